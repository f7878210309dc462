-- Why records were rejected, by benchmark: one row per reason.

select
    benchmark_id,
    stage,
    reason,
    count(*) as records,
    min(value) as example
from raw.rejects
group by benchmark_id, stage, reason
order by benchmark_id, stage, reason
