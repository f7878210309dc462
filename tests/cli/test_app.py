"""The commands as a person meets them: what they print, and how they fail."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from skillmap_dagster.cli.app import main
from tests.pipeline.places import Made
from tests.pipeline.sources import stamps, write_records, write_results


class Printed(NamedTuple):
    """What a command left on the screen, and its exit code."""

    code: int
    out: str
    err: str
    bytes: bytes


Skillmap = Callable[..., Printed]


@pytest.fixture
def skillmap(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Skillmap:
    def run(*arguments: object) -> Printed:
        capsysbinary.readouterr()
        monkeypatch.setattr(sys, "argv", ["skillmap", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsysbinary.readouterr()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        return Printed(code or 0, out.decode("utf-8", "replace"), err.decode(), out)

    return run


def is_one_line_of_ours(printed: Printed) -> bool:
    lines = printed.err.splitlines()
    return (
        printed.code == 1
        and len(lines) == 1
        and lines[0].startswith("skillmap: ")
        and "Traceback" not in printed.out + printed.err
    )


@pytest.mark.slow
def test_an_import_registers_makes_and_reports(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    home, sources = tmp_path / "home", tmp_path / "sources"
    write_results(sources, "sums", "ada", n_right=7)
    (sources / "notes.txt").write_text("not a result file", "utf-8")

    printed = skillmap("import", sources, "--home", home)

    assert printed.code == 0
    assert "1 new, 0 changed, 0 unchanged files" in printed.out
    assert "4 runs, 0 failures" in printed.out
    assert "passed over:" in printed.err
    assert "notes.txt" in printed.err
    found = skillmap(
        "query", "select accuracy from mart.model_accuracy",
        "--home", home, "--format", "json",
    )  # fmt: skip
    assert json.loads(found.out) == [{"accuracy": 7 / 12}]
    again = skillmap("import", sources, "--home", home)
    assert "0 new, 0 changed, 1 unchanged files" in again.out
    assert "everything is up to date" in again.out


def test_an_audit_reports_and_leaves_nothing_behind(
    skillmap: Skillmap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_results(tmp_path / "sources", "sums", "ada")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    monkeypatch.chdir(elsewhere)

    printed = skillmap("audit", file)

    assert printed.code == 0
    assert "1 new" in printed.out
    assert "results" in printed.out
    assert list(elsewhere.iterdir()) == []


def test_an_audit_shows_rejected_records_with_the_reason(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    good = {"item_id": "1", "question": "?", "answer": "1", "score": 1}
    file = write_records(tmp_path / "file.jsonl", [good, {**good, "score": 50}])

    printed = skillmap("audit", file, "--benchmark", "sums", "--model", "ada")

    assert printed.code == 0
    assert "rejects" in printed.out
    assert "50" in printed.out


def test_a_run_makes_only_what_is_asked_for(
    skillmap: Skillmap, remembered: Made
) -> None:
    before = stamps(remembered.platform.resources["lake"])
    for model in ("ada", "bob"):
        write_results(remembered.sources, "sums", model, n_right=9)

    printed = skillmap(
        "run", "--home", remembered.platform.home,
        "--model", "bob", "--benchmark", "sums", "--select", "core.scores",
    )  # fmt: skip

    after = stamps(remembered.platform.resources["lake"])
    assert printed.code == 0
    assert {part for part in after if after[part] != before[part]} == {
        ("core.scores", ("sums", "bob"))
    }


def test_a_failed_run_says_why_and_exits_with_1(
    skillmap: Skillmap, remembered: Made
) -> None:
    file = remembered.sources / "sums-ada.jsonl"
    file.write_bytes(file.read_bytes()[:-40])

    printed = skillmap("run", "--home", remembered.platform.home)
    status = skillmap("status", "--home", remembered.platform.home)

    assert printed.code == 1
    assert "3 failures" in printed.out
    assert "sums-ada.jsonl: the last line, record 11, is cut off" in printed.err
    assert "Traceback" not in printed.err
    assert "failed checks" in status.out
    assert "core.eval_runs" in status.out


def test_status_of_an_up_to_date_home_names_no_failure(
    skillmap: Skillmap, remembered: Made
) -> None:
    printed = skillmap("status", "--home", remembered.platform.home)

    assert printed.code == 0
    assert "ada, bob" in printed.out
    assert "failed checks" not in printed.out
    assert "out of date" not in printed.out


def test_status_of_an_empty_home_says_what_to_do(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    printed = skillmap("status", "--home", tmp_path / "home")

    assert printed.code == 0
    assert "skillmap import" in printed.out


def test_rows_come_in_the_form_asked_for(skillmap: Skillmap, made: Made) -> None:
    asked = (
        "query",
        "select model_id, source_names, benchmark_ids from core.models order by 1",
        "--home",
        made.platform.home,
    )

    as_csv = skillmap(*asked, "--format", "csv")
    as_json = skillmap(*asked, "--format", "json")
    as_parquet = skillmap(*asked, "--format", "parquet")
    as_table = skillmap(*asked)

    assert pl.read_csv(io.StringIO(as_csv.out)).rows() == [
        ("ada", "ada", "charts; sums"),
        ("bob", "bob", "charts; sums"),
    ]
    assert json.loads(as_json.out)[0] == {
        "model_id": "ada",
        "source_names": ["ada"],
        "benchmark_ids": ["charts", "sums"],
    }
    assert pl.read_parquet(io.BytesIO(as_parquet.bytes)).rows() == [
        ("ada", ["ada"], ["charts", "sums"]),
        ("bob", ["bob"], ["charts", "sums"]),
    ]
    assert "charts, sums" in as_table.out


def test_a_long_table_is_cut_and_says_so(skillmap: Skillmap, made: Made) -> None:
    printed = skillmap(
        "query", "from core.items", "--home", made.platform.home, "--limit", "3"
    )

    assert "3 of 24 rows" in printed.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("query", "from core.nothing"), "the query failed"),
        (("query", ""), "not a query that has rows"),
        (("run", "--model", "eve"), "no model 'eve'; there are: ada, bob"),
        (("run", "--benchmark", "x"), "no benchmark 'x'; there are: charts, sums"),
        (("run", "--select", "core.item"), "no table 'core.item'; there are: "),
        (("backfill", "--model", "eve"), "no model 'eve'; there are: ada, bob"),
        (("import", "no-such-file.json"), "no such file or folder"),
    ],
)
def test_a_mistake_ends_in_one_line(
    skillmap: Skillmap, made: Made, arguments: tuple[str, ...], told: str
) -> None:
    printed = skillmap(*arguments, "--home", made.platform.home)

    assert is_one_line_of_ours(printed), printed
    assert told in printed.err


def test_a_query_before_any_import_says_what_to_do(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    printed = skillmap("query", "select 1", "--home", tmp_path / "home")

    assert is_one_line_of_ours(printed)
    assert "nothing is published yet" in printed.err


def test_a_single_file_that_cannot_be_read_is_an_error(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a result file", "utf-8")

    printed = skillmap("import", file, "--home", tmp_path / "home")

    assert is_one_line_of_ours(printed)
    assert "notes.txt" in printed.err


def test_results_without_a_model_ask_for_its_name(
    skillmap: Skillmap, tmp_path: Path
) -> None:
    record = {"item_id": "1", "question": "?", "answer": "1", "score": 1}
    file = write_records(tmp_path / "file.jsonl", [record])

    printed = skillmap(
        "import", file, "--benchmark", "sums", "--home", tmp_path / "home"
    )

    assert is_one_line_of_ours(printed)
    assert "--model" in printed.err


def test_a_manifest_with_options_is_refused(skillmap: Skillmap, tmp_path: Path) -> None:
    write_results(tmp_path, "sums", "ada")
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text("version: 1\nsources: [{path: '*.jsonl'}]\n", "utf-8")

    printed = skillmap(
        "import", manifest, "--model", "ada", "--home", tmp_path / "home"
    )

    assert is_one_line_of_ours(printed)
    assert "a manifest is imported alone" in printed.err


def test_a_wrong_settings_file_is_named(skillmap: Skillmap, made: Made) -> None:
    settings = made.platform.home / "settings.yaml"
    settings.write_text("minimum_slice_item: 3\n", "utf-8")

    printed = skillmap("run", "--home", made.platform.home)

    assert is_one_line_of_ours(printed)
    assert "settings.yaml" in printed.err
    assert "minimum_slice_item" in printed.err


def test_a_report_is_written_where_asked(
    skillmap: Skillmap, made: Made, tmp_path: Path
) -> None:
    file = tmp_path / "folder" / "report.html"

    printed = skillmap("report", "--home", made.platform.home, "--output", file)

    assert printed.code == 0
    assert str(file) in printed.out
    assert file.read_text("utf-8").lower().startswith("<!doctype html>")


def test_the_home_of_the_environment_is_used(
    skillmap: Skillmap, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLMAP_HOME", str(made.platform.home))

    printed = skillmap("query", "select count(*) from core.items", "--format", "csv")

    assert printed.out.splitlines() == ["count_star()", "24"]


def test_help_names_every_command_and_imports_nothing_slow() -> None:
    code = (
        "import sys; sys.argv = ['skillmap', '--help']\n"
        "from skillmap_dagster.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "slow = {'dagster', 'great_expectations', 'matplotlib', 'onnxruntime'}\n"
        "print('slow:', sorted(slow & set(sys.modules)))\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    for command in ("import", "audit", "run", "query", "report", "status", "backfill"):
        assert command in ended.stdout
    assert "slow: []" in ended.stdout


@pytest.mark.slow
def test_a_backfill_makes_a_model_anew(skillmap: Skillmap, remembered: Made) -> None:
    lake = remembered.platform.resources["lake"]
    before = stamps(lake)

    printed = skillmap("backfill", "--model", "bob", "--home", remembered.platform.home)

    after = stamps(lake)
    assert printed.code == 0
    assert "3 runs, 0 failures" in printed.out
    assert {part[1] for part in after if after[part] != before[part]} == {
        ("charts", "bob"),
        ("sums", "bob"),
        ("bob",),
    }
