-- One row per model and slice, the bounds less what the model's mix would give.

select
    *,
    accuracy_low - expected_accuracy as difference_to_expected_low,
    accuracy_high - expected_accuracy as difference_to_expected_high
from mart.slice_accuracy
order by model_id asc, difference_to_expected asc, n_items desc, slice_id asc
