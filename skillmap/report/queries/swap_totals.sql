-- Pairs of models by benchmark, and how many of them change places when the answers are
-- read again from the stored responses.

select
    benchmark_id,
    count(*) as n_pairs,
    count(*) filter (where is_swapped) as n_swapped,
    count(*) filter (where is_swapped) / count(*) as swapped_share
from mart.extraction_sensitivity
group by benchmark_id
order by benchmark_id
