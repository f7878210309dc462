-- Items in a slice that core.slices does not have, or that have neither its skill nor
-- a skill of its broad skill.

with members as (
    select
        item_skills.item_id,
        skill_names.skill_id,
        skill_names.broad_skill_id
    from core.item_skills as item_skills
    inner join core.skill_names as skill_names using (skill_id)
)

select
    slice_items.slice_id,
    slice_items.item_id
from core.slice_items as slice_items
left join core.slices as slices using (slice_id)
where
    slices.slice_id is null
    or (slice_items.slice_id, slice_items.item_id) not in (
        select (skill_id, item_id) from members
        union all
        select (broad_skill_id, item_id) from members
    )
order by slice_items.slice_id, slice_items.item_id
