-- Accuracy by the source's reading of the responses and by ours: one row per model and
-- benchmark with stored responses.

select
    benchmark_id,
    model_id,
    n_items,
    accuracy_source,
    accuracy_source_low,
    accuracy_source_high,
    accuracy_reextracted,
    accuracy_reextracted_low,
    accuracy_reextracted_high,
    accuracy_reextracted - accuracy_source as change,
    n_changed_predictions,
    n_gained_predictions,
    n_lost_predictions
from mart.extraction_accuracy
order by benchmark_id asc, accuracy_source desc, model_id asc
