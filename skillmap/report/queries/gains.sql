-- Each model against the mean of the others, slice by slice of each benchmark: the
-- smallest p-values first.

select
    benchmark_id,
    slice_id,
    slice_name,
    model_id,
    n_items,
    n_clusters,
    accuracy,
    others_accuracy,
    gain,
    gain_low,
    gain_high,
    p_value
from mart.slice_gains
order by
    p_value asc nulls last,
    round(abs(gain), 9) desc,
    benchmark_id asc,
    slice_id asc,
    model_id asc
