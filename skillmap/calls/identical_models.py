"""Models that answer alike to the letter, which two models hardly do."""

import numpy as np
import polars as pl

_SCHEMA = {
    "model_a": pl.String(),
    "model_b": pl.String(),
    "n_shared": pl.Int64(),
    "n_distinct_texts": pl.Int64(),
}


def identical_models(
    replies: pl.DataFrame, *, minimum_shared: int = 20
) -> pl.DataFrame:
    """Pairs of models that gave the same text to everything that both were asked.

    One of them was then most likely asked in the name of both, or a cache answered
    for it. Answers of one letter can be equal by chance: ``n_distinct_texts`` tells.

    Args:
        replies: Columns model, about (an item, or an item and an epoch) and text. Of
            several replies of a model about one thing the first counts; null texts
            are left out.
        minimum_shared: Things that both must have answered.

    Returns:
        Columns model_a, model_b, n_shared and n_distinct_texts, sorted by the models.
    """
    told = replies.drop_nulls("text").unique(
        ["model", "about"], keep="first", maintain_order=True
    )
    models = told["model"].unique().sort()
    abouts = told["about"].unique().sort()
    texts = np.full((models.len(), abouts.len()), -1, np.int64)
    place = (_codes(told["model"], models), _codes(told["about"], abouts))
    texts[place] = told["text"].rank("dense").cast(pl.Int64).to_numpy()
    rows: list[tuple[str, str, int, int]] = []
    for a in range(models.len() - 1):
        is_shared = (texts[a] >= 0) & (texts[a + 1 :] >= 0)
        n_shared = is_shared.sum(axis=1)
        differs = (is_shared & (texts[a] != texts[a + 1 :])).any(axis=1)
        for row in np.flatnonzero(~differs & (n_shared >= minimum_shared)):
            distinct = np.unique(texts[a][is_shared[row]]).size
            pair = (models[a], models[a + 1 + int(row)])
            rows.append((*pair, int(n_shared[row]), distinct))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _codes(values: pl.Series, sorted_values: pl.Series) -> np.ndarray:
    return sorted_values.search_sorted(values).to_numpy()
