-- One row per benchmark and model with results; accuracy NULL where no item counts.

with eval_runs as (
    select
        benchmark_id,
        model_id,
        n_items
    from core.eval_runs
    where is_primary
)

select
    model_accuracy.* exclude (
        benchmark_id, model_id, eval_run_id, n_items, n_left_out
    ),
    benchmark_id,
    model_id,
    coalesce(model_accuracy.n_items, 0) as n_items,
    coalesce(model_accuracy.n_left_out, eval_runs.n_items) as n_left_out
from mart.model_accuracy as model_accuracy
full join eval_runs using (benchmark_id, model_id)
order by benchmark_id, model_id
