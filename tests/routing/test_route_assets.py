"""What the assets on routing make of what is stored and of what a route asks for."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from skillmap.contracts import routing
from skillmap.contracts.table import Table
from skillmap_dagster.assets.table_asset import TABLE_ASSETS
from skillmap_dagster.resources.lake import WHOLE
from skillmap_dagster.resources.settings import AnalysisSettings, Route
from skillmap_dagster.runs import Platform
from tests.pipeline.sources import new_platform
from tests.routing.stored import MODELS


def made(platform: Platform, table: Table, **route: object) -> pl.DataFrame:
    asked = Route.model_validate({"models": MODELS, "benchmark": "quiz", **route})
    platform.resources["settings"].write(AnalysisSettings(routes=(asked,)))
    return TABLE_ASSETS[table.key].rows(WHOLE, platform.resources)


def policy(rows: pl.DataFrame, name: str) -> dict[str, Any]:
    return rows.row(by_predicate=pl.col("policy") == name, named=True)


@pytest.mark.slow
def test_stored_responses_are_read_without_being_asked_for(platform: Platform) -> None:
    found = made(platform, routing.ROUTING_EVALUATION)

    row = policy(found, "skill_with_rationale")
    assert row["reads_response_of"] == "ada"
    assert row["gain"] == pytest.approx(0.4)
    assert row["n_splits"] == 3
    assert row["mean_cost"] is row["cost_unit"] is None
    assert policy(found, "skill")["gain"] < 0.1
    assert policy(found, "skill")["reads_response_of"] is None


@pytest.mark.slow
def test_a_route_can_leave_responses_unread(platform: Platform) -> None:
    found = made(platform, routing.ROUTING_EVALUATION, reads_responses=False)

    assert "skill_with_rationale" not in found["policy"]


@pytest.mark.slow
def test_a_route_can_name_whom_to_ask_first(platform: Platform) -> None:
    found = made(platform, routing.ROUTING_EVALUATION, reads_response_of="bob")

    assert policy(found, "skill_with_rationale")["reads_response_of"] == "bob"


@pytest.mark.slow
def test_without_prices_the_frontier_is_empty(platform: Platform) -> None:
    assert made(platform, routing.ROUTING_FRONTIER).is_empty()


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["usd", "tokens"])
def test_prices_make_a_frontier(platform: Platform, unit: str) -> None:
    prices = {"prices": {"ada": 1, "bob": 3}, "cost_unit": unit}

    found = made(platform, routing.ROUTING_FRONTIER, **prices)
    evaluated = made(platform, routing.ROUTING_EVALUATION, **prices)

    assert set(found["policy"]) == {
        *("skill", "skill_with_rationale", "model:ada", "model:bob")
    }
    assert set(found["cost_unit"]) == {unit} == set(evaluated["cost_unit"])
    first = found.filter(policy="skill_with_rationale").row(0, named=True)
    # Ada on every item, and bob too on the 40 % that ada gets wrong.
    assert first["mean_cost"] == pytest.approx(1 + 0.4 * 3, abs=0.4)
    assert policy(evaluated, "skill_with_rationale")["mean_cost"] > 2


@pytest.mark.slow
def test_what_the_calls_did_cost_is_found(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = platform.resources["lake"]
    scan = type(lake).scan

    def priced(self: object, table: Table, **keys: str) -> pl.LazyFrame:
        rows = scan(self, table, **keys)
        if table.name != "responses":
            return rows
        known = {"n_prompt_tokens": 10, "n_completion_tokens": 5, "cost_usd": None}
        return rows.with_columns(**{name: pl.lit(n) for name, n in known.items()})

    monkeypatch.setattr(type(lake), "scan", priced)
    found = made(platform, routing.ROUTING_FRONTIER)

    assert set(found["cost_unit"]) == {"tokens"}
    assert policy(found, "model:bob")["mean_cost"] == 15
    assert found.filter(policy="skill_with_rationale")["mean_cost"][0] > 15


@pytest.mark.slow
def test_only_a_candidates_responses_make_a_difference(platform: Platform) -> None:
    asset = TABLE_ASSETS[routing.ROUTING_EVALUATION.key]
    made(platform, routing.ROUTING_EVALUATION)
    narrow = asset.narrowed["core", "responses"]

    parts = narrow(WHOLE, platform.resources)

    assert len(parts) == 2
    assert all("'quiz'" in part for part in parts)
    other = Route(models=("ada", "zoe"), benchmark="quiz")
    platform.resources["settings"].write(AnalysisSettings(routes=(other,)))
    assert narrow(WHOLE, platform.resources) == parts[:1]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"prices": {"ada": 1}}, "must name each of the models once"),
        ({"prices": {"ada": 1, "bob": 1, "zoe": 1}}, "must name each of the models"),
        ({"prices": {"ada": 1, "bob": -1}}, "greater than or equal to 0"),
        ({"prices": {"ada": 1, "bob": float("inf")}}, "finite"),
        ({"reads_response_of": "zoe"}, "must be one of"),
        ({"cost_unit": "eur"}, "'usd' or 'tokens'"),
        ({"n_splits": 0}, "greater than or equal to 1"),
    ],
)
def test_a_route_is_checked(told: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Route.model_validate({"models": MODELS, **told})


def test_a_route_is_written_and_read_again(tmp_path: Path) -> None:
    settings = new_platform(tmp_path / "home").resources["settings"]
    route = Route(models=MODELS, prices={"ada": 0.5, "bob": 1}, n_splits=2)

    settings.write(AnalysisSettings(routes=(route,)))

    assert settings.read().routes == (route,)
