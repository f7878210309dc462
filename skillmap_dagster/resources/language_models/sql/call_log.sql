-- Every call that was made, by all that shapes its answer.
create table calls (
    key text primary key,
    status text not null,
    -- An answer, of whatever kind: never asked for again.
    is_finished integer not null,
    model text not null,
    served_name text not null,
    revision text,
    epoch integer not null,
    about text not null,
    finish_reason text,
    n_prompt_tokens integer,
    n_completion_tokens integer,
    latency_seconds real,
    n_attempts integer not null,
    cost_usd real,
    served_model text,
    structure_form text,
    finished_at real not null,
    error text,
    text text,
    reasoning text,
    parameters text not null,
    -- Messages and schema: JSON, compressed by zlib; images by their hash.
    request blob not null
);

create table images (
    sha256 text primary key,
    media_type text not null,
    base64 text not null
);

-- Calls that a process is making; call_owner.py tells whether it still lives.
create table claims (
    key text primary key,
    owner text not null
) without rowid;

create index claims_by_owner on claims (owner);
