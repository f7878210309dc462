-- Items of a slice on which two models disagree: model_a is right where model_b is
-- not, or more nearly right. One row per slice, item and such pair.

select
    slice_items.slice_id,
    slices.slice_name,
    common_scores.item_id,
    common_scores.benchmark_id,
    common_scores.model_a,
    common_scores.model_b,
    common_scores.score_a,
    common_scores.score_b,
    items.question,
    items.answer
from mart.common_scores as common_scores
inner join core.slice_items as slice_items using (item_id)
inner join core.slices as slices using (slice_id)
inner join core.items as items using (item_id)
where common_scores.score_a > common_scores.score_b
