-- Skills of items that core.skill_names or core.items does not have.

select
    item_id,
    skill_id
from core.item_skills
where
    item_id not in (select items.item_id from core.items as items)
    or skill_id not in (
        select skill_names.skill_id from core.skill_names as skill_names
    )
order by item_id, skill_id
