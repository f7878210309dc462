-- Skill mentions about an item that core.items does not have.

select
    skill_mentions.mention_id,
    skill_mentions.item_id
from core.skill_mentions as skill_mentions
anti join core.items as items using (item_id)
order by skill_mentions.mention_id
