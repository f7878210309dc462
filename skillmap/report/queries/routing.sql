-- Policies that choose a model for each item, by set of candidates and scope, the
-- largest gain over the best single model first.

select
    candidate_models,
    scope,
    policy,
    reads_response_of,
    n_items,
    n_groups,
    accuracy,
    accuracy_low,
    accuracy_high,
    gain,
    gain_low,
    gain_high,
    gain_over_category,
    gain_over_category_low,
    gain_over_category_high,
    n_splits,
    gain_lowest_split,
    gain_highest_split,
    cost_unit,
    mean_cost
from mart.routing_evaluation
order by
    candidate_models asc,
    scope = 'all' desc,
    scope asc,
    round(gain, 9) desc nulls last,
    policy asc
