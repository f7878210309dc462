-- Two models on an item that both answered: one row per item and ordered pair of
-- models. Items that drifted for either are left out.

select
    a.item_id,
    a.benchmark_id,
    a.model_id as model_a,
    b.model_id as model_b,
    a.score as score_a,
    b.score as score_b
from mart.item_scores as a
inner join mart.item_scores as b
    on a.item_id = b.item_id and a.model_id != b.model_id
where
    not a.is_drifted
    and not b.is_drifted
    and a.score is not null
    and b.score is not null
