import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap_dagster.resources.language_models.retries import (
    PassingError,
    is_overload,
    passes,
    retry_after,
    retrying,
)

DATE = "Tue, 01 Dec 2026 10:00:00 GMT"


def waits(n_tries: int, error: PassingError, seed: int = 0) -> list[float]:
    """Waits between the tries of something that always fails."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def fail() -> None:
        raise error

    with pytest.raises(PassingError):
        asyncio.run(retrying(n_tries, seed, sleep)(fail))
    return slept


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Tue, 01 Dec 2026 10:01:30 GMT", "date": DATE}, 90.0),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": "Tue, 99 Dec 2026 09:00:00 GMT"}, None),
        ({"retry-after": "Tue, 01 Dec 2020 09:00:00 GMT"}, 0.0),
    ],
)
def test_the_wait_that_a_server_asks_for(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


@given(st.text())
def test_no_header_raises(told: str) -> None:
    found = retry_after({"retry-after": told})

    assert found is None or found >= 0


def test_waits_grow_with_a_random_part_of_a_seed() -> None:
    found = waits(12, PassingError("HTTP 500"))

    for number, seconds in enumerate(found):
        most = min(60.0, 0.5 * 2.0**number)
        assert most / 2 <= seconds <= most
    assert found == waits(12, PassingError("HTTP 500"))
    assert found != waits(12, PassingError("HTTP 500"), seed=1)


def test_a_wait_that_is_asked_for_is_never_cut_short() -> None:
    for seconds in waits(12, PassingError("HTTP 429", retry_after=20.0)):
        assert 20 <= seconds <= 21


def test_which_failures_pass() -> None:
    assert [s for s in range(400, 600) if not passes(s)] == [
        s for s in range(400, 500) if s not in {408, 409, 425, 429}
    ]
    assert [s for s in range(400, 600) if is_overload(s)] == [429, 502, 503, 504, 529]
