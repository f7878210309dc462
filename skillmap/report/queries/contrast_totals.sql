-- One row per pair of models: on how many slices each verdict was reached. First the
-- pairs in which each model is ahead somewhere, on most slices for the one with fewer;
-- then those with most confirmed slices, then those with most better or worse.

select
    model_a,
    model_b,
    count(*) as n_slices,
    count(*) filter (where verdict = 'better') as n_better,
    count(*) filter (where verdict = 'worse') as n_worse,
    count(*) filter (where verdict = 'tied') as n_tied,
    count(*) filter (where verdict = 'not enough evidence') as n_open,
    count(*) filter (where is_confirmed) as n_confirmed,
    min(n_items) as n_items_least,
    max(n_items) as n_items_most,
    median(minimum_detectable_difference) as median_detectable
from mart.slice_contrasts
group by model_a, model_b
order by
    least(n_better, n_worse) desc,
    n_confirmed desc,
    n_better + n_worse desc,
    n_tied desc,
    n_items_most desc,
    model_a asc,
    model_b asc
