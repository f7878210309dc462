-- One row per benchmark and model with results; accuracy NULL where no item counts.

select
    benchmark_id,
    model_id,
    model_accuracy.* exclude (benchmark_id, model_id, eval_run_id),
    eval_runs.n_items as n_run_items
from mart.model_accuracy as model_accuracy
full join
    (select * from core.eval_runs where is_primary) as eval_runs
    using (benchmark_id, model_id)
order by benchmark_id, model_id
