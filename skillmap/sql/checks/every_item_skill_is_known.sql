-- Skills of items that core.skills or core.items does not have.

select
    item_skills.item_id,
    item_skills.skill_id
from core.item_skills as item_skills
left join core.items as items using (item_id)
left join core.skill_names as skill_names using (skill_id)
where items.item_id is null or skill_names.skill_id is null
order by item_skills.item_id, item_skills.skill_id
