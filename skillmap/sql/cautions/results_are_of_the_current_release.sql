-- Results for an item whose source states another question, options or answer than
-- the benchmark's current release.

select
    eval_run_id,
    item_id
from core.scores
where is_drifted and extractor = 'source'
order by eval_run_id, item_id
