-- The score that counts of each model on each item, from the primary eval runs: one
-- row per model and item. Unparsed, refused, empty and truncated answers count as 0.
-- Epochs are averaged within the item first, so that repeats are not extra items.
-- NULL where every outcome is left out.

with counted as (
    select
        model_id,
        benchmark_id,
        item_id,
        outcome,
        coalesce(is_drifted, false) as is_drifted,
        coalesce(not is_prediction_in_response, false) as is_unsupported,
        case
            when outcome in ('unparsed', 'refusal', 'empty', 'truncated') then 0
            when outcome in ('correct', 'wrong', 'partial') then score
        end as counted_score
    from core.scores
    where is_primary and extractor = 'source'
)

select
    model_id,
    benchmark_id,
    item_id,
    avg(counted_score) as score,
    bool_or(is_drifted) as is_drifted,
    bool_or(is_unsupported) as is_unsupported,
    bool_or(outcome = 'unparsed') as is_unparsed,
    bool_or(outcome = 'refusal') as is_refusal,
    bool_or(outcome = 'empty') as is_empty,
    bool_or(outcome = 'truncated') as is_truncated,
    avg(counted_score) filter (
        where outcome in ('correct', 'wrong', 'partial')
    ) as answered_score
from counted
group by model_id, benchmark_id, item_id
order by model_id, benchmark_id, item_id
