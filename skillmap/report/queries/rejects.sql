-- Bad records by reason, most first.

select
    benchmark_id,
    stage,
    reason,
    count(*) as n_rejects,
    count(distinct source_id) as n_sources,
    min(value) as first_value
from raw.rejects
group by benchmark_id, stage, reason
order by n_rejects desc, benchmark_id asc, stage asc, reason asc
