-- Results whose stored prediction stands nowhere in the response: likely a fallback
-- guess of the source's extractor.

select
    eval_run_id,
    item_id
from core.scores
where not is_prediction_in_response
order by eval_run_id, item_id
