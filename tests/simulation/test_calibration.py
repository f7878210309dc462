"""What is said of many worlds whose truth is known, held against that truth."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from skillmap.comparisons.contrasts import slice_contrasts
from skillmap.simulation.worlds import WorldPlan, simulated_world

SIZES = (60, 100, 100, 150, 200, 300, 400, 600) * 3
EQUAL = (0.7, 0.7, 0.7)
EFFECTS = {(index, 0): 0.2 * (-1) ** index for index in range(0, len(SIZES), 3)}
N_WORLDS = 40

PLANS = {
    "null": WorldPlan(EQUAL, SIZES),
    "null, clusters": WorldPlan(EQUAL, SIZES, cluster_size=3, overlap=0.2),
    "null, loose clusters": WorldPlan(EQUAL, SIZES, cluster_size=8, likeness=0.4),
    "mixed": WorldPlan(EQUAL, SIZES, EFFECTS, overlap=0.1),
    "mixed, clusters": WorldPlan(EQUAL, SIZES, EFFECTS, cluster_size=2),
}


class Seen(NamedTuple):
    """Means over worlds, but for the counts of confirmed contrasts."""

    coverage: float
    false_discoveries: float
    missed_by_selected: float
    discovered: float
    n_confirmed: int
    n_confirmed_false: int


@lru_cache(maxsize=8)
def seen_in(name: str, *, believes_clusters: bool = True) -> Seen:
    plan, rows = PLANS[name], []
    a, b = np.triu_indices(len(plan.abilities), k=1)
    for seed in range(N_WORLDS):
        world = simulated_world(plan, seed=seed)
        clusters = world.clusters if believes_clusters else None
        found = slice_contrasts(
            world.item_scores, world.slice_items, world.slices, clusters, seed=seed
        )
        truth = (world.accuracy[:, a] - world.accuracy[:, b]).ravel()
        told = {name: found[name].to_numpy() for name in found.columns}
        covered = (told["difference_low"] <= truth) & (truth <= told["difference_high"])
        selected = told["q_value"] <= 0.05
        is_false = np.abs(truth) < 1e-9
        is_false |= np.sign(truth) != np.sign(told["difference"])
        missed = (told["fcr_low"] > truth) | (told["fcr_high"] < truth)
        n_selected = max(int(selected.sum()), 1)
        confirmed = told["is_confirmed"]
        rows.append(
            (
                covered.mean(),
                (selected & is_false).sum() / n_selected,
                (selected & missed).sum() / n_selected,
                selected.sum(),
                confirmed.sum(),
                (confirmed & is_false).sum(),
            )
        )
    table = np.array(rows)
    return Seen(
        *table[:, :4].mean(axis=0).tolist(), *table[:, 4:].sum(axis=0).astype(int)
    )


@pytest.mark.parametrize("name", PLANS)
def test_intervals_cover_the_truth_as_often_as_they_say(name: str) -> None:
    assert 0.93 <= seen_in(name).coverage <= 0.97


@pytest.mark.parametrize("name", PLANS)
def test_false_discoveries_are_no_more_than_allowed(name: str) -> None:
    seen = seen_in(name)

    # A share of worlds in the null ones: four in forty are within chance of q.
    slack = 0.05 if "null" in name else 0.0
    assert seen.false_discoveries <= 0.05 + slack
    assert seen.missed_by_selected <= 0.05 + slack


@pytest.mark.parametrize("name", [name for name in PLANS if "null" in name])
def test_no_slice_of_equal_models_is_confirmed(name: str) -> None:
    assert seen_in(name).n_confirmed == 0


def test_planted_differences_are_found_and_confirmed() -> None:
    seen = seen_in("mixed")

    # 8 slices by 2 pairs differ, some of 60 items.
    assert seen.discovered >= 8
    assert seen.n_confirmed >= 4 * N_WORLDS
    assert seen.n_confirmed_false == 0


def test_who_ignores_duplicates_finds_what_is_not_there() -> None:
    seen = seen_in("null, clusters", believes_clusters=False)

    assert seen.coverage < 0.85
    assert seen.false_discoveries > 0.5
