-- What quality costs, by set of candidates and scope: each policy at a sweep of prices
-- of quality and each single model at its one, the cheapest first.

select
    candidate_models,
    scope,
    policy,
    point,
    reads_response_of,
    n_items,
    n_groups,
    cost_unit,
    mean_cost,
    accuracy,
    accuracy_low,
    accuracy_high,
    gain,
    gain_low,
    gain_high,
    is_dominated
from mart.routing_frontier
order by
    candidate_models asc,
    scope = 'all' desc,
    scope asc,
    policy asc,
    mean_cost asc,
    point asc
