-- Items in a slice that core.slices does not have, or that do not have its skill.

select
    slice_items.slice_id,
    slice_items.item_id
from core.slice_items as slice_items
left join core.slices as slices using (slice_id)
left join core.item_skills as item_skills
    on
        slice_items.slice_id = item_skills.skill_id
        and slice_items.item_id = item_skills.item_id
where slices.slice_id is null or item_skills.item_id is null
order by slice_items.slice_id, slice_items.item_id
