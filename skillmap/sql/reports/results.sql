-- How each model did on each benchmark, and what speaks against it: one row each.

select
    benchmark_id,
    model_id,
    n_items,
    coverage,
    accuracy,
    accuracy_low,
    accuracy_high,
    n_unparsed as unparsed,
    n_empty + n_refusal + n_truncated as no_answer,
    n_left_out as left_out,
    n_drifted as drifted,
    n_unsupported_predictions as unsupported_predictions
from mart.model_accuracy
order by benchmark_id, accuracy desc, model_id
