-- What each model was asked, what came of it and what it cost.
select
    model,
    count(*) as n_calls,
    count(*) filter (where status = 'answered') as n_answered,
    count(*) filter (where status = 'refused') as n_refused,
    count(*) filter (where status = 'filtered') as n_filtered,
    count(*) filter (where status = 'empty') as n_empty,
    count(*) filter (where status = 'truncated') as n_truncated,
    count(*) filter (where status = 'error') as n_error,
    coalesce(sum(n_prompt_tokens), 0) as n_prompt_tokens,
    coalesce(sum(n_completion_tokens), 0) as n_completion_tokens,
    sum(cost_usd) as cost_usd
from calls
group by model
order by model
