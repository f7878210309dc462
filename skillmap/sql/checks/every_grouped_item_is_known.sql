-- Items of a duplicate group that core.items does not have.

select
    item_groups.item_id,
    item_groups.kind
from core.item_groups as item_groups
anti join core.items as items using (item_id)
order by item_groups.item_id, item_groups.kind
