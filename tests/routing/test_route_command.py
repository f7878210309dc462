"""``skillmap route`` as a person meets it."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skillmap_dagster.cli.app import main
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Platform
from tests.routing.stored import MODELS

Route = Callable[..., tuple[int, str, str]]


@pytest.fixture
def route(
    platform: Platform,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Route:
    settings = platform.resources["settings"]
    settings.write(AnalysisSettings())
    home = Path(settings.file).parent

    def run(*arguments: str) -> tuple[int, str, str]:
        told = ["skillmap", "route", "--home", str(home), "--models", ",".join(MODELS)]
        monkeypatch.setattr(sys, "argv", [*told, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        out, err = capsys.readouterr()
        return code or 0, out, err

    return run


@pytest.mark.slow
def test_the_reading_policy_and_what_it_costs_are_shown(
    route: Route, platform: Platform
) -> None:
    code, out, err = route(
        *("--benchmark", "quiz", "--splits", "2", "--reads", "ada"),
        *("--price", "ada=1", "--price", "bob=3", "--budget-usd", "1.5"),
    )

    assert (code, err) == (0, "")
    assert "skill_with_rationale" in out
    assert "usd per item" in out
    assert "skill_with_rationale within 1.5 USD an item: accuracy" in out
    (kept,) = platform.resources["settings"].read().routes
    assert kept.prices == {"ada": 1, "bob": 3}
    assert (kept.n_splits, kept.reads_response_of) == (2, "ada")


@pytest.mark.slow
def test_a_budget_that_asking_first_exceeds_is_told(route: Route) -> None:
    _, out, _ = route(
        *("--reads", "bob", "--price", "ada=1", "--price", "bob=3"),
        *("--budget-usd", "2"),
    )

    assert "skill_with_rationale: asking first costs 3 USD an item already" in out
    assert "skill within 2 USD an item" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (("--price", "ada=1"), "--price is missing for bob"),
        (("--price", "ada=1", "--price", "bob=-1"), "--price must be at least 0"),
        (
            ("--price", "ada=1", "--price", "bob=1", "--price", "zoe=1"),
            "--price is only for the models",
        ),
        (("--price", "ada"), "--price must be MODEL=USD"),
        (("--reads", "zoe"), "--reads must be one of ada, bob"),
        (("--budget-usd", "1"), "--budget-usd needs --price"),
    ],
)
def test_what_cannot_be_is_one_line(
    route: Route, told: tuple[str, ...], reason: str
) -> None:
    code, _, err = route(*told)

    assert code == 1
    assert reason in err
    assert len(err.splitlines()) == 1
