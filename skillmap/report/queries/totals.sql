-- How much there is of each thing: one row.

select
    (select count(*) from core.items) as n_items,
    (select count(*) from core.models) as n_models,
    (select count(distinct benchmark_id) from core.items) as n_benchmarks,
    (
        select count(*) from core.scores
        where extractor = 'source'
    ) as n_results,
    (
        select count(distinct item_id) from core.scores
        where extractor = 'source'
    ) as n_items_with_results,
    (select count(*) from core.slices) as n_slices,
    (select count(distinct item_id) from core.slice_items) as n_slice_items,
    (select count(*) from core.skills) as n_skills,
    (select count(*) from core.eval_runs) as n_eval_runs,
    (
        select count(*) from core.eval_runs
        where not is_primary
    ) as n_spare_eval_runs,
    (select count(*) from raw.sources) as n_sources,
    (select count(*) from raw.rejects) as n_rejects
