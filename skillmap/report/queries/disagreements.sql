-- Items of the slice and pair of models that differ most clearly: at most four that
-- only the better model got right, and two that only the other did.

with most_different as (
    select
        slice_id,
        n_items as n_common_items,
        case when difference > 0 then model_a else model_b end as better_model,
        case when difference > 0 then model_b else model_a end as worse_model,
        abs(difference) as difference,
        greatest(difference_low, -difference_high) as difference_low,
        greatest(difference_high, -difference_low) as difference_high
    from mart.slice_differences
    where model_a < model_b and difference != 0
    order by
        round(greatest(difference_low, -difference_high), 9) desc,
        n_common_items desc,
        slice_id asc,
        better_model asc,
        worse_model asc
    limit 1
),

found as (
    select
        disagreements.*,
        most_different.* exclude (slice_id),
        disagreements.model_a = most_different.better_model as is_won_by_better
    from mart.slice_disagreements as disagreements
    inner join most_different
        on
            disagreements.slice_id = most_different.slice_id
            and (
                (
                    disagreements.model_a = most_different.better_model
                    and disagreements.model_b = most_different.worse_model
                )
                or (
                    disagreements.model_a = most_different.worse_model
                    and disagreements.model_b = most_different.better_model
                )
            )
)

select
    found.*,
    items.choices,
    items.category,
    count(*) over (partition by found.is_won_by_better) as n_alike
from found
inner join core.items as items using (item_id)
qualify
    row_number() over (partition by found.is_won_by_better order by found.item_id)
    <= case when found.is_won_by_better then 4 else 2 end
order by found.is_won_by_better desc, found.item_id asc
