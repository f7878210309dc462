-- Releases met of benchmarks that have more than one: one row per release.

select
    benchmark_id,
    release_id,
    is_current,
    n_items,
    n_drifted_items,
    n_sources
from core.benchmarks
qualify count(*) over (partition by benchmark_id) > 1
order by benchmark_id, is_current desc, n_sources desc, release_id
