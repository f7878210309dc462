-- Two models on all the items that both answered: one row per pair, with the paired
-- 95 % interval of mart.slice_differences.

with paired as (
    select
        model_a,
        model_b,
        count(*) as n_items,
        avg(score_a) as accuracy_a,
        avg(score_b) as accuracy_b,
        sum(greatest(score_a - score_b, 0)) as n_only_a,
        sum(greatest(score_b - score_a, 0)) as n_only_b
    from mart.common_scores
    where model_a < model_b
    group by model_a, model_b
),

adjusted as (
    select
        *,
        (n_only_a - n_only_b) / (n_items + 2) as centre,
        1.959964 * sqrt(
            greatest(
                (n_only_a + n_only_b + 1) - (n_only_a - n_only_b) ** 2 / (n_items + 2),
                0
            )
        ) / (n_items + 2) as half_width
    from paired
)

select
    model_a,
    model_b,
    n_items,
    accuracy_a,
    accuracy_b,
    accuracy_a - accuracy_b as difference,
    greatest(centre - half_width, -1) as difference_low,
    least(centre + half_width, 1) as difference_high
from adjusted
order by model_a, model_b
