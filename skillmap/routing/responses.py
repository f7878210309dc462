"""What a model's own response to an item says before anyone knows if it is right."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_array  # pyright: ignore[reportMissingTypeStubs]

from skillmap.metrics.intervals import Floats
from skillmap.routing.evidence import Labels
from skillmap.routing.membership import membership

# Words of two letters or more and LaTeX commands; each number counts as the one word
# "#", since which number it is says nothing of the skill.
_WORDS: Final = r"\\?[a-z]{2,}|[0-9]+"
_NUMBER: Final = "#"
# The rest of a very long response is mostly repetition.
_MOST_CHARACTERS: Final = 4_000
# Below this many characters there is an answer and no working.
_BARE_CHARACTERS: Final = 40
_NO_ANSWER: Final = "none read"
_HEDGES: Final = (
    r"\b(however|but|might|may|likely|possibly|possible|assume|assuming|assumption|"
    r"approximately|closest|none of|not sure|cannot|seems?|appears?|error|wait)\b"
)
# Names of the numbers that describe a response's form, in the order of the columns.
FORM: Final = (
    "length",
    "length squared",
    "bare answer",
    "lines",
    "hedges",
    "numbers",
    "equations",
)


class WordCounts(NamedTuple):
    """How often each response has each word.

    Attributes:
        words: Sorted.
        counts: Shape ``(n_items, n_words)``.
    """

    words: tuple[str, ...]
    counts: csr_array


@dataclass(frozen=True, eq=False)
class ModelResponses:
    """One model's responses to the items, in the items' order.

    What is worked out of them is worked out when first asked for: of a model whose
    responses no policy reads, no text is looked at.

    Attributes:
        texts: As written, null where there is none. An empty one is a response.
        predictions: The answer read from each, null where none was.
    """

    texts: pl.Series
    predictions: pl.Series

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Where there is a response, shape ``(n_items,)``."""
        return self.texts.is_not_null().to_numpy()

    @cached_property
    def words(self) -> WordCounts:
        """Words of each response, numbers as ``#``."""
        found = (
            pl.DataFrame({"text": self.texts})
            .with_row_index("row")
            .select(
                "row",
                word=pl.col("text")
                .str.slice(0, _MOST_CHARACTERS)
                .str.to_lowercase()
                .str.extract_all(_WORDS),
            )
            .explode("word")
            .drop_nulls()
            .with_columns(
                word=pl.when(pl.col("word").str.contains(r"^[0-9]"))
                .then(pl.lit(_NUMBER))
                .otherwise("word")
            )
        )
        words = found["word"].unique().sort()
        columns = words.search_sorted(found["word"]).to_numpy().astype(np.int64)
        rows = found["row"].to_numpy().astype(np.int64)
        shape = (self.texts.len(), words.len())
        return WordCounts(tuple(words.to_list()), membership(rows, columns, shape))

    @cached_property
    def answers(self) -> Labels:
        """Letter answered, or that no answer could be read; none without a response."""
        letter = pl.col("answer").str.extract(r"^\s*([A-Z])\s*$")
        named = (
            pl.DataFrame({"text": self.texts, "answer": self.predictions})
            .with_row_index("row")
            .filter(pl.col("text").is_not_null())
            .with_columns(
                name=pl.when(pl.col("answer").is_null())
                .then(pl.lit(_NO_ANSWER))
                .otherwise(letter)
            )
            .drop_nulls("name")
        )
        names = named["name"].unique().sort()
        columns = names.search_sorted(named["name"]).to_numpy().astype(np.int64)
        rows = named["row"].to_numpy().astype(np.int64)
        shape = (self.texts.len(), names.len())
        return Labels(tuple(names.to_list()), membership(rows, columns, shape))

    @cached_property
    def form(self) -> Floats:
        """How the response is written, shape ``(n_items, len(FORM))``; 0 if unknown."""
        text = pl.col("text")
        lower = text.str.to_lowercase()
        length = text.str.len_chars()
        counted = pl.DataFrame({"text": self.texts}).select(
            pl.lit(0.0).alias("square"),
            length=length.cast(pl.Float64).log1p(),
            bare=(length < _BARE_CHARACTERS).cast(pl.Float64),
            lines=text.str.count_matches("\n").cast(pl.Float64).log1p(),
            hedges=lower.str.count_matches(_HEDGES).cast(pl.Float64).log1p(),
            numbers=text.str.count_matches("[0-9]+").cast(pl.Float64).log1p(),
            equations=text.str.count_matches("=").cast(pl.Float64).log1p(),
        )
        found = counted.with_columns(square=pl.col("length") ** 2).select(
            "length", "square", "bare", "lines", "hedges", "numbers", "equations"
        )
        return np.nan_to_num(found.fill_null(0.0).to_numpy()).astype(np.float64)


def model_responses(item_ids: pl.Series, responses: pl.DataFrame) -> ModelResponses:
    """A model's responses, lined up with the items.

    Args:
        item_ids: Of the items.
        responses: Of one model: ``item_id``, ``response`` and ``prediction``; the
            first of several for an item counts.
    """
    first = responses.select("item_id", "response", "prediction").unique(
        "item_id", keep="first", maintain_order=True
    )
    lined_up = pl.DataFrame({"item_id": item_ids}).join(
        first, on="item_id", how="left", maintain_order="left"
    )
    return ModelResponses(
        lined_up["response"].cast(pl.String), lined_up["prediction"].cast(pl.String)
    )
