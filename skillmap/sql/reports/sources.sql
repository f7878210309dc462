-- What was read, by benchmark and format: one row each.

select
    benchmark_id,
    format,
    count(*) as files,
    sum(n_records)::bigint as records,
    sum(n_items)::bigint as items,
    sum(n_results)::bigint as results,
    sum(n_skill_phrases)::bigint as skill_phrases,
    sum(n_rationales)::bigint as rationales,
    sum(n_rejected)::bigint as rejected,
    sum(n_replaced_characters)::bigint as with_replaced_characters
from raw.sources
group by benchmark_id, format
order by benchmark_id, format
