"""Identifiers: how the ids of the tables are made."""

import hashlib

import polars as pl


def item_id(benchmark_id: pl.Expr, native_id: pl.Expr) -> pl.Expr:
    """``<benchmark_id>:<native_id>``.

    Examples:
        >>> pl.select(item_id(pl.lit("gsm8k"), pl.lit("12"))).item()
        'gsm8k:12'
    """
    return pl.format("{}:{}", benchmark_id, native_id)


def eval_run_id(benchmark_id: str, model_id: str, source_id: str) -> str:
    """``<benchmark_id>:<model_id>:<source_id>``, by the first source of the run.

    Examples:
        >>> eval_run_id("gsm8k", "gpt-4", "5f3a")
        'gsm8k:gpt-4:5f3a'
    """
    return f"{benchmark_id}:{model_id}:{source_id}"


def short_hash(text: str) -> str:
    """The first 16 hexadecimal characters of the text's SHA-256.

    Examples:
        >>> short_hash("")
        'e3b0c44298fc1c14'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
