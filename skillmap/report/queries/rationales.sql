-- Rationales by how they could be read: one row per benchmark and annotator.

select
    benchmark_id,
    annotator,
    count(*) as n_rationales,
    count(*) filter (where parse_status = 'parsed') as n_parsed,
    count(*) filter (
        where parse_status = 'parsed_with_faults'
    ) as n_parsed_with_faults,
    count(*) filter (where parse_status = 'no_skills') as n_no_skills,
    count(*) filter (where parse_status = 'empty') as n_empty
from core.rationales
group by benchmark_id, annotator
order by n_rationales desc, benchmark_id asc, annotator asc
