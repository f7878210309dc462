-- Items in a slice that core.slices does not have, or that have neither its skill nor
-- a skill of its broad skill.

with of_skill as (
    select distinct
        skill_id,
        broad_skill_id
    from core.skill_names
),

members as (
    select
        item_skills.item_id,
        item_skills.skill_id as slice_id
    from core.item_skills as item_skills
    inner join of_skill using (skill_id)
    union all
    select
        item_skills.item_id,
        of_skill.broad_skill_id as slice_id
    from core.item_skills as item_skills
    inner join of_skill using (skill_id)
)

select
    slice_items.slice_id,
    slice_items.item_id
from core.slice_items as slice_items
left join core.slices as slices using (slice_id)
anti join members
    on
        slices.slice_id = members.slice_id
        and slice_items.item_id = members.item_id
order by slice_items.slice_id, slice_items.item_id
