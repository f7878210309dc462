-- Faults of rationales, most frequent first.

select
    fault,
    count(*) as n_rationales
from (select unnest(faults) as fault from core.rationales)
group by fault
order by n_rationales desc, fault
