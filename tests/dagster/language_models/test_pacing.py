import asyncio

import pytest

from skillmap_dagster.resources.language_models.pacing import Allowance, Pace


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("per_minute", [6.0, 60.0, 600.0])
def test_no_minute_has_more_than_its_allowance(per_minute: float) -> None:
    time = Time()
    allowance = Allowance(per_minute, time)
    taken: list[float] = []
    while time.now < 150:
        wait = allowance.take(1)
        if wait:
            time.now += wait
        else:
            taken.append(time.now)

    most = max(sum(start <= t < start + 60 for t in taken) for start in taken)
    # A second's worth may be saved up, one at least.
    assert per_minute - 1 <= most <= per_minute + max(1, per_minute / 60) + 1


def test_what_is_more_than_there_ever_is_is_lent_and_paid_back() -> None:
    time = Time()
    allowance = Allowance(600, time)

    assert allowance.take(100) == 0
    assert allowance.take(1) == pytest.approx(9.1)
    allowance.give_back(85)
    assert allowance.take(1) == pytest.approx(0.6)
    time.now = 0.7
    assert allowance.take(1) == 0


def test_without_a_limit_nothing_waits() -> None:
    allowance = Allowance(None)

    assert [allowance.take(1e9) for _ in range(3)] == [0, 0, 0]


def test_the_limit_doubles_until_an_overload_and_grows_by_ones_from_then_on() -> None:
    time = Time()
    pace = Pace(first=4, most=100, clock=time)
    for _ in range(4):
        pace.accepted()
    assert pace.limit == 8
    pace.overloaded(time.now)
    assert pace.limit == 4
    for _ in range(5):
        pace.accepted()
    assert pace.limit == 5


def test_requests_that_were_out_together_halve_the_limit_once() -> None:
    time = Time()
    pace = Pace(first=32, most=32, clock=time)
    time.now = 10.0
    for _ in range(20):
        pace.overloaded(began=9.0)
    assert pace.limit == 16
    time.now = 11.0
    pace.overloaded(began=10.5)
    assert pace.limit == 8
    for _ in range(20):
        time.now += 1
        pace.overloaded(began=time.now)
    assert pace.limit == 1


def test_no_more_are_let_in_than_the_limit() -> None:
    async def run() -> int:
        pace = Pace(first=3, most=3)
        inside = most = 0

        async def one() -> None:
            nonlocal inside, most
            await pace.enter()
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1
            pace.leave()

        await asyncio.gather(*(one() for _ in range(50)))
        return most

    assert asyncio.run(run()) == 3


def test_a_pause_holds_all_back() -> None:
    async def run() -> float:
        loop = asyncio.get_running_loop()
        pace = Pace(first=3, most=3)
        pace.pause(0.05)
        began = loop.time()
        await asyncio.gather(*(pace.enter() for _ in range(3)))
        return loop.time() - began

    assert asyncio.run(run()) >= 0.05
