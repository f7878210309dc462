-- Pairs of models that change places when the answers are read again, by size of the
-- change.

select
    benchmark_id,
    model_a,
    model_b,
    n_items,
    difference_source,
    difference_reextracted
from mart.extraction_sensitivity
where is_swapped
order by
    round(abs(difference_source - difference_reextracted), 9) desc,
    benchmark_id asc,
    model_a asc,
    model_b asc
