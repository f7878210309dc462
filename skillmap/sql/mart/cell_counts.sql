-- One row per benchmark and model: what its items add up to.

with items_of as (
    select
        benchmark_id,
        count(*) as n_benchmark_items,
        case when min(n_choices) > 0 then avg(1 / n_choices) end as chance_accuracy
    from core.items
    group by benchmark_id
)

select
    item_scores.benchmark_id,
    item_scores.model_id,
    eval_runs.eval_run_id,
    count(item_scores.score) as n_items,
    coalesce(sum(item_scores.score), 0) as n_correct,
    count(item_scores.answered_score) as n_answered,
    coalesce(sum(item_scores.answered_score), 0) as n_correct_answered,
    count(*) filter (where item_scores.is_unparsed) as n_unparsed,
    count(*) filter (where item_scores.is_refusal) as n_refusal,
    count(*) filter (where item_scores.is_empty) as n_empty,
    count(*) filter (where item_scores.is_truncated) as n_truncated,
    count(*) filter (where item_scores.score is null) as n_left_out,
    any_value(items_of.n_benchmark_items) as n_benchmark_items,
    count(*) / any_value(items_of.n_benchmark_items) as coverage,
    count(*) filter (where item_scores.is_drifted) as n_drifted,
    count(*) filter (where item_scores.is_unsupported) as n_unsupported_predictions,
    any_value(items_of.chance_accuracy) as chance_accuracy
from mart.item_scores as item_scores
inner join items_of using (benchmark_id)
inner join core.eval_runs as eval_runs
    on
        item_scores.benchmark_id = eval_runs.benchmark_id
        and item_scores.model_id = eval_runs.model_id
        and eval_runs.is_primary
group by item_scores.benchmark_id, item_scores.model_id, eval_runs.eval_run_id
order by item_scores.benchmark_id, item_scores.model_id
