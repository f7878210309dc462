-- Models and benchmarks that have counted scores and no accuracy. A partial answer
-- counts by its score alone.

select distinct
    scores.benchmark_id,
    scores.model_id
from core.scores as scores
anti join mart.model_accuracy as model_accuracy using (benchmark_id, model_id)
where
    scores.is_primary
    and scores.outcome not in ('error', 'not_attempted', 'unscored')
    and (scores.outcome != 'partial' or scores.score is not null)
order by scores.benchmark_id, scores.model_id
