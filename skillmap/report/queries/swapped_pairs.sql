-- Pairs of models that change places when the answers are read again, by size of the
-- change. The bounds of a difference are made from those of both accuracies as if they
-- were independent (Newcombe 1998, Statistics in Medicine 17, method 10), which is
-- rather too wide for models that were asked the same.

select
    swaps.benchmark_id,
    swaps.model_a,
    swaps.model_b,
    swaps.n_items,
    swaps.difference_source,
    swaps.difference_source - sqrt(
        (a.accuracy_source - a.accuracy_source_low) ** 2
        + (b.accuracy_source_high - b.accuracy_source) ** 2
    ) as difference_source_low,
    swaps.difference_source + sqrt(
        (a.accuracy_source_high - a.accuracy_source) ** 2
        + (b.accuracy_source - b.accuracy_source_low) ** 2
    ) as difference_source_high,
    swaps.difference_reextracted,
    swaps.difference_reextracted - sqrt(
        (a.accuracy_reextracted - a.accuracy_reextracted_low) ** 2
        + (b.accuracy_reextracted_high - b.accuracy_reextracted) ** 2
    ) as difference_reextracted_low,
    swaps.difference_reextracted + sqrt(
        (a.accuracy_reextracted_high - a.accuracy_reextracted) ** 2
        + (b.accuracy_reextracted - b.accuracy_reextracted_low) ** 2
    ) as difference_reextracted_high
from mart.extraction_sensitivity as swaps
left join mart.extraction_accuracy as a
    on
        swaps.benchmark_id = a.benchmark_id
        and swaps.model_a = a.model_id
left join mart.extraction_accuracy as b
    on
        swaps.benchmark_id = b.benchmark_id
        and swaps.model_b = b.model_id
where swaps.is_swapped
order by
    round(abs(swaps.difference_source - swaps.difference_reextracted), 9) desc,
    swaps.benchmark_id asc,
    swaps.model_a asc,
    swaps.model_b asc
