-- Items that are the same question, by benchmark and kind: groups with two or more
-- items of the benchmark, and items that have a twin in another benchmark.

with members as (
    select
        kind,
        group_id,
        benchmark_id,
        count(*) as n_here,
        any_value(n_group_items) as n_group_items
    from core.item_groups
    group by kind, group_id, benchmark_id
)

select
    benchmark_id,
    kind,
    count(*) filter (where n_here > 1) as groups_within,
    coalesce(sum(n_here) filter (where n_here > 1), 0)::bigint as items_within,
    coalesce(
        sum(n_here) filter (where n_group_items > n_here), 0
    )::bigint as items_also_elsewhere
from members
group by benchmark_id, kind
order by benchmark_id, kind
