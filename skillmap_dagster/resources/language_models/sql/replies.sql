-- The replies to some calls.
select
    key, status, text, reasoning, finish_reason, n_prompt_tokens,
    n_completion_tokens, latency_seconds, n_attempts, cost_usd, served_model,
    structure_form, error
from calls
where key in (select value from json_each(?))
