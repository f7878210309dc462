-- Responses to an item that core.items does not have.

select
    responses.eval_run_id,
    responses.item_id
from core.responses as responses
anti join core.items as items using (item_id)
order by responses.eval_run_id, responses.item_id
