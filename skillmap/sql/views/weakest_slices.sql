-- The slices of each model from the weakest: largest shortfall to what the model
-- gets on the slice's mix of benchmarks first. One row per model and slice.

select
    model_id,
    row_number() over (
        partition by model_id
        order by difference_to_expected, n_items desc, slice_id
    ) as weakness_rank,
    slice_id,
    slice_name,
    n_items,
    accuracy,
    accuracy_low,
    accuracy_high,
    expected_accuracy,
    difference_to_expected,
    overall_accuracy,
    difference,
    difference_low,
    difference_high
from mart.slice_accuracy
order by model_id, weakness_rank
