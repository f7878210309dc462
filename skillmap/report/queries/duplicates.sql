-- Duplicate groups by the benchmarks they join: one row per kind and set of them.

with grouped as (
    select
        kind,
        group_id,
        list_sort(list(distinct benchmark_id)) as benchmark_ids,
        count(*) as n_items
    from core.item_groups
    group by kind, group_id
)

select
    kind,
    benchmark_ids,
    cast(sum(n_items) as bigint) as n_items,
    count(*) as n_groups,
    max(n_items) as n_largest_group_items
from grouped
group by kind, benchmark_ids
order by kind asc, len(benchmark_ids), n_items desc, benchmark_ids asc
