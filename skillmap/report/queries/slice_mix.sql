-- One row per slice and benchmark: how many of the slice's items it gives.

select
    slice_items.slice_id,
    slices.slice_name,
    slices.n_items as n_slice_items,
    slices.n_inherited_items,
    slice_items.benchmark_id,
    count(*) as n_items
from core.slice_items as slice_items
inner join core.slices as slices using (slice_id)
group by all
order by slices.n_items desc, slice_items.slice_id asc, slice_items.benchmark_id asc
