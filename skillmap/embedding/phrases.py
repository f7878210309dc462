"""What every embedder does to phrases first."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SURROGATES = re.compile("[\ud800-\udfff]")


class DistinctPhrases(NamedTuple):
    """Phrases without repeats, and where each one given has gone.

    Attributes:
        phrases: In order of first appearance.
        positions: For each phrase given, its index in ``phrases``.
    """

    phrases: list[str]
    positions: NDArray[np.intp]


def distinct_phrases(phrases: Sequence[str]) -> DistinctPhrases:
    """Each phrase once, as text that can be encoded.

    Half a surrogate pair comes out of JSON that was cut in the middle of an emoji;
    no tokenizer takes it, so U+FFFD, the replacement character, stands for it.

    Args:
        phrases: Any text.

    Returns:
        The distinct phrases, and the index of each phrase given among them.

    Examples:
        >>> distinct_phrases(["ocr", "molar mass", "ocr"]).positions
        array([0, 1, 0])
    """
    encodable = [_SURROGATES.sub("\ufffd", phrase) for phrase in phrases]
    index = {phrase: n for n, phrase in enumerate(dict.fromkeys(encodable))}
    positions = np.array([index[phrase] for phrase in encodable], dtype=np.intp)
    return DistinctPhrases(list(index), positions)
