-- Faults of rationales, most frequent first.

with told as (
    select unnest(faults) as fault
    from core.rationales
)

select
    fault,
    count(*) as n_rationales
from told
group by fault
order by n_rationales desc, fault asc
