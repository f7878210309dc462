-- Pairs of models whose responses to a benchmark are the same to the letter: likely one
-- of them answered in the name of both. Few items, or few different texts, say nothing.

with cells as (
    select
        benchmark_id,
        model_id,
        count(*) as n_responses,
        bit_xor(hash(item_id, epoch, response)) as fingerprint
    from core.responses
    where response is not null
    group by benchmark_id, model_id, eval_run_id
    having count(*) >= 20 and count(distinct response) >= 10
)

select distinct
    a.benchmark_id,
    a.model_id as model_a,
    b.model_id as model_b
from cells as a
inner join cells as b
    on
        a.benchmark_id = b.benchmark_id
        and a.n_responses = b.n_responses
        and a.fingerprint = b.fingerprint
        and a.model_id < b.model_id
order by a.benchmark_id, model_a, model_b
