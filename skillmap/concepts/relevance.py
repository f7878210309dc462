"""Whether a concept belongs to what a benchmark sets out to test, without a judge."""

import numpy as np
import polars as pl

from skillmap.concepts.terms import term_vectors, terms_of
from skillmap.metrics.intervals import Floats

RELEVANCE_LABELS = ("relevant", "irrelevant", "unclear")
METHOD = "terms"
_TOP_ITEMS = 5
# Labels whose cosines are held at once.
_BLOCK = 4_096


def term_relevance(
    concepts: pl.DataFrame,
    cards: pl.DataFrame,
    items: pl.DataFrame,
    *,
    relevant_from: float = 0.2,
    irrelevant_below: float = 0.05,
    max_items: int = 500,
) -> pl.DataFrame:
    """Relevance of each concept to each benchmark by the words they share.

    A stand-in for a judge where none is at hand: it knows no synonyms, and a concept
    that no item exercises is found only by what the card says.

    Args:
        concepts: ``encoder_id``, ``latent_index`` and ``label``; null for none.
        cards: ``benchmark_id`` and ``card``: what the benchmark is for, in words.
        items: ``benchmark_id`` and ``text`` of its items, in the order to sample by.
        relevant_from: Least cosine of a relevant concept.
        irrelevant_below: Cosine below which it is irrelevant; between, unclear.
        max_items: Items of each benchmark that are read, spread evenly.

    Returns:
        One row per encoder, benchmark and concept, columns of
        ``core.concept_relevance``: ``score`` is the larger of the cosine to the card
        and the mean of the five largest to items. A concept whose label has no term is
        unclear and without a score.

    Source:
        Our deterministic fallback; cut-offs are conventions and were not fitted.
    """
    labels = concepts["label"].fill_null("")
    read = {
        str(name): texts["text"].gather(
            np.unique(np.linspace(0, texts.height - 1, max_items).astype(np.int64))
        )
        for (name,), texts in items.partition_by("benchmark_id", as_dict=True).items()
    }
    has_term = np.array([bool(terms_of(label)) for label in labels], dtype=np.bool_)
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for benchmark, card in cards.sort("benchmark_id").rows():
        texts = read.get(benchmark, pl.Series(dtype=pl.String))
        score = _scores(labels, card, texts)
        score[~has_term] = np.nan
        parts.append(
            concepts.select("encoder_id", pl.col("latent_index").cast(pl.Int64))
            .with_columns(pl.Series("score", score, nan_to_null=True).clip(0, 1))
            .select(
                "encoder_id",
                pl.lit(benchmark).alias("benchmark_id"),
                "latent_index",
                pl.lit(METHOD).alias("method"),
                pl.when(pl.col("score") >= relevant_from)
                .then(pl.lit("relevant"))
                .when(pl.col("score") < irrelevant_below)
                .then(pl.lit("irrelevant"))
                .otherwise(pl.lit("unclear"))
                .alias("relevance"),
                "score",
            )
        )
    return pl.concat(parts).sort("encoder_id", "benchmark_id", "latent_index")


_SCHEMA = pl.Schema(
    {
        "encoder_id": pl.String(),
        "benchmark_id": pl.String(),
        "latent_index": pl.Int64(),
        "method": pl.String(),
        "relevance": pl.String(),
        "score": pl.Float64(),
    }
)


def _scores(labels: pl.Series, card: str, texts: pl.Series) -> Floats:
    """Cosine to the card, or mean of the largest to items, whichever is larger."""
    n = labels.len()
    vectors = term_vectors([*labels, card, *texts])
    against = range(n, vectors.n_texts)
    score = np.zeros(n)
    for start in range(0, n, _BLOCK):
        rows = range(start, min(start + _BLOCK, n))
        cosines = vectors.cosines(rows, against)
        closest = np.sort(cosines[:, 1:], axis=1)[:, -_TOP_ITEMS:]
        by_item = closest.mean(axis=1) if texts.len() else 0.0
        score[start : start + _BLOCK] = np.maximum(cosines[:, 0], by_item)
    return score
