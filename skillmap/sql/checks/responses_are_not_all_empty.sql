-- Eval runs of ten responses or more in which 99 of 100 are empty: the run failed,
-- and an accuracy of 0 would say something about the model that nobody measured.

select
    eval_run_id,
    count(*) as n_responses,
    count(*) filter (where outcome = 'empty') as n_empty
from core.scores
where extractor = 'source'
group by eval_run_id
having count(*) >= 10 and n_empty >= 0.99 * n_responses
order by eval_run_id
