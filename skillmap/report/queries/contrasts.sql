-- Two models on each slice with the corrected verdict: confirmed rows first, then by q.

select
    model_a,
    model_b,
    slice_id,
    slice_name,
    n_items,
    n_clusters,
    accuracy_a,
    accuracy_b,
    difference,
    difference_low,
    difference_high,
    fcr_low,
    fcr_high,
    q_value,
    minimum_detectable_difference,
    verdict,
    is_confirmed
from mart.slice_contrasts
order by
    is_confirmed desc,
    q_value asc nulls last,
    n_items desc,
    model_a asc,
    model_b asc,
    slice_id asc
