-- One row per benchmark: its items, and how far skills and results cover them.

with items_of as (
    select
        benchmark_id,
        count(*) as n_items,
        count(question) as n_questions
    from core.items
    group by benchmark_id
),

skilled as (
    select
        benchmark_id,
        count(distinct item_id) as n_skill_items
    from core.item_skills
    group by benchmark_id
),

sliced as (
    select
        benchmark_id,
        count(distinct item_id) as n_slice_items
    from core.slice_items
    group by benchmark_id
),

evaluated as (
    select
        benchmark_id,
        count(distinct model_id) as n_models
    from mart.model_accuracy
    group by benchmark_id
)

select
    items_of.benchmark_id,
    items_of.n_items,
    items_of.n_questions,
    coalesce(evaluated.n_models, 0) as n_models,
    coalesce(skilled.n_skill_items, 0) as n_skill_items,
    coalesce(sliced.n_slice_items, 0) as n_slice_items
from items_of
left join evaluated using (benchmark_id)
left join skilled using (benchmark_id)
left join sliced using (benchmark_id)
order by items_of.benchmark_id
