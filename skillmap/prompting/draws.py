"""Random draws that stay the same when other things are added."""

import hashlib
from collections.abc import Sequence

import numpy as np


def generator(seed: int, *about: str) -> np.random.Generator:
    """A generator of its own for each thing that is drawn for.

    Draws for one item never depend on which other items there are.

    Examples:
        >>> bool(generator(0, "b:1").random() == generator(0, "b:1").random())
        True
    """
    return np.random.default_rng(int.from_bytes(_digest(seed, about)[:16], "big"))


def drawn(things: Sequence[str], n: int, *, seed: int, about: str) -> list[str]:
    """At most ``n`` distinct things at random, in the order drawn.

    Adding a thing changes at most one of those drawn.

    Examples:
        >>> first = drawn(["a", "b", "c"], 2, seed=0, about="letters")
        >>> len(set(first) & set(drawn("abcd", 2, seed=0, about="letters"))) >= 1
        True
    """
    distinct = sorted(set(things))
    distinct.sort(key=lambda thing: _digest(seed, (about, thing)))
    return distinct[:n]


def _digest(seed: int, about: Sequence[str]) -> bytes:
    told = repr((seed, *about)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(told).digest()
