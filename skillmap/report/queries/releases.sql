-- One row per release of a benchmark met in the sources, the current one first.

select
    benchmark_id,
    release_id,
    is_current,
    n_items,
    n_drifted_items,
    n_sources
from core.benchmarks
order by benchmark_id asc, is_current desc, n_sources desc, release_id asc
