-- An answer stays; an error gives way to whatever comes of the next attempt.
insert into calls (
    key, status, is_finished, model, served_name, revision, epoch, about,
    finish_reason, n_prompt_tokens, n_completion_tokens, latency_seconds, n_attempts,
    cost_usd, served_model, structure_form, finished_at, error, text, reasoning,
    parameters, request
)
values (
    :key, :status, :is_finished, :model, :served_name, :revision, :epoch, :about,
    :finish_reason, :n_prompt_tokens, :n_completion_tokens, :latency_seconds,
    :n_attempts, :cost_usd, :served_model, :structure_form, :finished_at, :error,
    :text, :reasoning, :parameters, :request
)
on conflict (key) do update set
    status = excluded.status,
    is_finished = excluded.is_finished,
    about = excluded.about,
    finish_reason = excluded.finish_reason,
    n_prompt_tokens = excluded.n_prompt_tokens,
    n_completion_tokens = excluded.n_completion_tokens,
    latency_seconds = excluded.latency_seconds,
    n_attempts = excluded.n_attempts,
    cost_usd = excluded.cost_usd,
    served_model = excluded.served_model,
    structure_form = excluded.structure_form,
    finished_at = excluded.finished_at,
    error = excluded.error,
    text = excluded.text,
    reasoning = excluded.reasoning
where not calls.is_finished
