-- Scores without the response that they are for.

select
    scores.eval_run_id,
    scores.item_id,
    scores.epoch
from core.scores as scores
anti join core.responses as responses using (eval_run_id, item_id, epoch)
order by scores.eval_run_id, scores.item_id, scores.epoch
