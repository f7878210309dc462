"""Exact answers of the arithmetic items, worked out a second time.

Each entry is written from the question alone, with whole numbers and fractions, so
that it can disagree with the gold answer.
"""

from datetime import date, datetime, timedelta
from fractions import Fraction


def _third(first: int, second: int) -> int:
    return 180 - first - second


def _minutes(start: str, end: str) -> int:
    form = "%H:%M"
    between = datetime.strptime(end, form) - datetime.strptime(start, form)  # noqa: DTZ007  # clock times of one day
    return int(between.total_seconds()) // 60


ANSWERS: dict[str, Fraction | int] = {
    "money-01": 20 - 7,
    "money-02": 2 * 3 + 5,
    "money-03": 25 * 3 + 10 * 4,
    "money-04": 3 * 20 - (2 * 12 + 3 * 8),
    "money-05": Fraction(150 + 225, 100),
    "money-06": Fraction(90 - 10, 4),
    "money-07": next(week for week in range(99) if 15 + 6 * week == 45),
    "money-08": next(rides for rides in range(99) if 2 * rides > 36),
    "money-09": sum(Fraction(10 if page <= 50 else 5, 100) for page in range(1, 81)),
    "time-01": _minutes("18:40", "20:15") - _minutes("18:40", "20:00"),
    "time-02": _minutes("09:15", "11:05"),
    "time-03": 24 - 22 + 6,
    "time-04": 5 * 50 + 4 * 10,
    "time-05": (date(2026, 5, 8) + timedelta(weeks=3)).day,
    "time-06": (date(2026, 4, 20) + timedelta(days=14)).day,
    "time-07": (date(2026, 4, 10) - date(2026, 3, 25)).days,
    "time-08": 2031 - 2009,
    "rate-01": 60 * 3,
    "rate-02": Fraction(90, 12),
    "rate-03": Fraction(15, 5) * 8,
    "rate-04": Fraction(60, 4 - 1),
    "rate-05": Fraction(45 + 19, 3 + 1),
    "rate-06": Fraction(300, 70 + 80),
    "rate-07": 10 * 55 - 10 * 40,
    "rate-08": Fraction(6 * 4, 3),
    "percent-01": Fraction(25, 100) * 80,
    "percent-02": 50 * (1 - Fraction(20, 100)),
    "percent-03": 40 - Fraction(60, 100) * 40,
    "percent-04": Fraction(42, 50) * 100,
    "percent-05": (Fraction(250, 200) - 1) * 100,
    "percent-06": 30 * Fraction(110, 100) + 2,
    "percent-07": 80 * Fraction(75, 100) - 5,
    "percent-08": 12 / Fraction(30, 100),
    "fraction-01": 36 * Fraction(1, 2),
    "fraction-02": 12 * (1 - Fraction(1, 4) - Fraction(1, 3)),
    "fraction-03": 25 * Fraction(3, 5),
    "fraction-04": 6 * Fraction(3, 4),
    "fraction-05": 18 / Fraction(2, 3),
    "fraction-06": Fraction(5, 2) / Fraction(1, 2),
    "fraction-07": Fraction(1, 2) + Fraction(1, 4),
    "geometry-01": 8 * 5,
    "geometry-02": Fraction(36, 4),
    "geometry-03": _third(50, 60),
    "geometry-04": 4 * 3 * 2,
    "geometry-05": 10 + 6 + 10 + 6 - 2,
    "geometry-06": Fraction(10 * 6, 2),
    "geometry-07": Fraction(400 * 300, 50 * 50),
    "geometry-08": 2 * (Fraction(48, 6) + 6),
    "unit-01": Fraction(35, 10) * 1000,
    "unit-02": _minutes("00:00", "02:20"),
    "unit-03": Fraction(18, 10) * 100 - 35,
    "unit-04": Fraction(2000, 250),
    "unit-05": 5 * 3,
    "unit-06": Fraction(12 * 400, 1000),
    "unit-07": 5 * 12 - 7,
    "sequence-01": list(range(4, 99, 3))[4],
    "sequence-02": 3 * 2**4,
    "sequence-03": list(range(10, 99, 2))[4],
    "sequence-04": list(range(50, 0, -5))[6],
    "sequence-05": 6**2,
    "average-01": Fraction(12 + 15 + 18, 3),
    "average-02": next(
        points
        for points in range(99)
        if Fraction(18 + 25 + 21 + points, 4) == Fraction(20)
    ),
    "average-03": Fraction(5 * 8 + 14, 6),
    "number-01": next(n for n in range(100, 1000) if sorted(str(n)) == ["0", "4", "7"]),
    "number-02": next(n for n in range(99) if 2 * n + 5 == 21),
    "number-03": 23 - 7 + 12,
    "number-04": next(cars for cars in range(99) if 4 * cars >= 29),
    "number-05": sum(sorted([17, 42, 39, 8])[-2:]),
    "number-06": 6 * 9 - 5,
    "number-07": 14 + 2 * 14 + (2 * 14 - 5),
    "number-08": next(n for n in range(99) if n + (n + 1) + (n + 2) == 45),
    "number-09": next(n for n in range(99) if n + (n + 6) == 30),
    "table-01": 15 - 9,
    "table-02": 2 * 3 + 3 * 4,
    "table-03": Fraction(8 + 5 + 11, 3),
}
