-- Two models on the slices where their paired intervals are furthest from 0: at
-- most eight rows per pair.

select
    model_a,
    model_b,
    slice_id,
    slice_name,
    n_items,
    accuracy_a,
    accuracy_b,
    difference,
    difference_low,
    difference_high,
    round(greatest(difference_low, -difference_high), 9) as distance_from_zero,
    count(*) over (partition by model_a, model_b) as n_pair_slices
from mart.slice_differences
where model_a < model_b
qualify
    row_number() over (
        partition by model_a, model_b
        order by distance_from_zero desc, n_items desc, slice_id asc
    ) <= 8
order by model_a asc, model_b asc, distance_from_zero desc, n_items desc, slice_id asc
