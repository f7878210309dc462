-- Where two models differ on the items that both answered: one row per slice and
-- ordered pair of models. The 95 % interval is the paired one with half an item
-- added to each discordant count (Agresti and Min 2005, Statistics in Medicine 24,
-- section 2); not corrected for the number of slices looked at.

with paired as (
    select
        slice_items.slice_id,
        common_scores.model_a,
        common_scores.model_b,
        count(*) as n_items,
        avg(common_scores.score_a) as accuracy_a,
        avg(common_scores.score_b) as accuracy_b,
        sum(greatest(common_scores.score_a - common_scores.score_b, 0)) as n_only_a,
        sum(greatest(common_scores.score_b - common_scores.score_a, 0)) as n_only_b
    from mart.common_scores as common_scores
    inner join core.slice_items as slice_items using (item_id)
    group by slice_items.slice_id, common_scores.model_a, common_scores.model_b
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
    adjusted.model_a,
    adjusted.model_b,
    adjusted.slice_id,
    slices.slice_name,
    adjusted.n_items,
    adjusted.accuracy_a,
    adjusted.accuracy_b,
    adjusted.accuracy_a - adjusted.accuracy_b as difference,
    greatest(adjusted.centre - adjusted.half_width, -1) as difference_low,
    least(adjusted.centre + adjusted.half_width, 1) as difference_high,
    adjusted.n_only_a,
    adjusted.n_only_b
from adjusted
inner join core.slices as slices using (slice_id)
order by
    adjusted.model_a,
    adjusted.model_b,
    abs(adjusted.accuracy_a - adjusted.accuracy_b) desc,
    adjusted.slice_id
