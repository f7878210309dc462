-- Rationales about an item that core.items does not have.

select
    rationales.rationale_id,
    rationales.item_id
from core.rationales as rationales
anti join core.items as items using (item_id)
order by rationales.rationale_id
