"""The lake: whole partitions, whatever happens to the process that writes them."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from skillmap.contracts import core
from skillmap.contracts.table import Table
from skillmap.errors import ContractError
from skillmap_dagster.resources.lake import Lake, content_of, inputs_of
from tests.pipeline.processes import start

CELL = {"benchmark": "sums", "model": "ada"}
# What a partition key may be: no bar, which Dagster puts between keys, no control
# character, no half surrogate pair; short enough for a file name once escaped.
KEYS = st.text(
    st.characters(blacklist_characters="|", blacklist_categories=["C"]),
    min_size=1,
    max_size=20,
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(root=str(tmp_path / "lake"))


def model_rows(name: str, *, n: int = 1) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "model_id": [f"{name}-{number}" for number in range(n)],
            "source_names": [[name]] * n,
            "benchmark_ids": [["sums"]] * n,
        },
        schema=core.MODELS.polars_schema,
    )


def filled_up(table: Table, known: pl.DataFrame) -> pl.DataFrame:
    """The columns that are known, and nulls in the others."""
    return pl.concat([table.empty(), known], how="diagonal")


def test_what_is_written_is_what_is_read(lake: Lake) -> None:
    written = model_rows("ada", n=3)

    stored = lake.write(core.MODELS, {"model": "ada"}, written, inputs="from x")

    assert_frame_equal(lake.read(core.MODELS), written)
    assert lake.stored(core.MODELS, {"model": "ada"}) == stored
    assert (stored.inputs, stored.n_rows) == ("from x", 3)


def test_a_second_write_replaces_the_rows(lake: Lake) -> None:
    lake.write(core.MODELS, {"model": "ada"}, model_rows("old", n=3), inputs="")

    lake.write(core.MODELS, {"model": "ada"}, model_rows("new"), inputs="")

    assert lake.read(core.MODELS)["model_id"].to_list() == ["new-0"]


def test_a_partition_without_rows_is_there(lake: Lake) -> None:
    lake.write(core.MODELS, {"model": "ada"}, core.MODELS.empty(), inputs="")

    stored = lake.stored(core.MODELS, {"model": "ada"})

    assert stored is not None
    assert stored.n_rows == 0
    assert lake.partitions(core.MODELS) == [{"model": "ada"}]


@settings(max_examples=60, deadline=None)
@given(keys=st.lists(KEYS, min_size=1, max_size=4, unique=True))
def test_any_key_comes_back_as_it_was(
    keys: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    lake = Lake(root=str(tmp_path_factory.mktemp("keys") / "lake"))
    cells = [{"benchmark": keys[0], "model": key} for key in keys]

    for cell in cells:
        lake.write(core.SCORES, cell, core.SCORES.empty(), inputs=cell["model"])

    assert lake.partitions(core.SCORES) == sorted(cells, key=lambda c: c["model"])
    found = [lake.stored(core.SCORES, cell) for cell in cells]
    assert [stored and stored.inputs for stored in found] == keys


@pytest.mark.parametrize(
    "key",
    [
        "a/b",
        ".",
        "..",
        "../..",
        "a b",
        " a ",
        "é",
        "数",
        "a=b",
        "%2E",
        "*",
        "[a]",
        "\\",
    ],
)
def test_an_odd_key_makes_one_folder_in_its_table(lake: Lake, key: str) -> None:
    lake.write(core.MODELS, {"model": key}, model_rows("ada"), inputs="")

    folders = os.listdir(Path(lake.root) / "core" / "models")  # noqa: PTH208  escaped names as they are

    assert len(folders) == 1
    assert lake.partitions(core.MODELS) == [{"model": key}]
    assert lake.read(core.MODELS, model=key).height == 1


def test_keys_that_differ_in_case_are_two_partitions(lake: Lake) -> None:
    for key in ("Ada", "ada"):
        lake.write(core.MODELS, {"model": key}, model_rows(key), inputs="")

    assert lake.partitions(core.MODELS) == [{"model": "Ada"}, {"model": "ada"}]


def test_a_missing_partition_has_no_rows_and_the_contract_s_columns(lake: Lake) -> None:
    assert lake.stored(core.MODELS, {"model": "ada"}) is None
    assert_frame_equal(lake.read(core.MODELS, model="ada"), core.MODELS.empty())


def test_a_removed_partition_is_missing(lake: Lake) -> None:
    lake.write(core.MODELS, {"model": "ada"}, model_rows("ada"), inputs="")

    lake.remove(core.MODELS, {"model": "ada"})
    lake.remove(core.MODELS, {"model": "ada"})

    assert lake.partitions(core.MODELS) == []


def test_a_partition_of_other_dimensions_is_refused(lake: Lake) -> None:
    with pytest.raises(ContractError, match=r"core\.models is partitioned by"):
        lake.file(core.MODELS, CELL)


def test_only_partitions_with_the_key_are_read(lake: Lake) -> None:
    for benchmark, model in (("sums", "ada"), ("sums", "bob"), ("charts", "ada")):
        scores = pl.DataFrame({"benchmark_id": [benchmark], "model_id": [model]})
        cell = {"benchmark": benchmark, "model": model}
        lake.write(core.SCORES, cell, filled_up(core.SCORES, scores), inputs="")

    of_sums = lake.read(core.SCORES, benchmark="sums")

    assert of_sums["model_id"].to_list() == ["ada", "bob"]


def test_partitions_are_found_by_a_known_key(lake: Lake) -> None:
    cells = [{"benchmark": b, "model": m} for b in ("[a]*", "b?", "..") for m in "xy"]
    for cell in cells:
        lake.write(core.SCORES, cell, core.SCORES.empty(), inputs="")

    for cell in cells:
        assert lake.partitions(core.SCORES, **cell) == [cell]
        of_benchmark = lake.partitions(core.SCORES, benchmark=cell["benchmark"])
        assert [found["model"] for found in of_benchmark] == ["x", "y"]
    assert lake.partitions(core.SCORES, benchmark="*") == []
    assert lake.partitions(core.ITEMS, model="x") == []


def test_a_scan_keeps_the_version_it_was_made_of(lake: Lake) -> None:
    lake.write(core.MODELS, {"model": "ada"}, model_rows("old", n=2), inputs="")
    scan = lake.scan(core.MODELS)

    lake.write(core.MODELS, {"model": "ada"}, model_rows("new"), inputs="")
    lake.remove(core.MODELS, {"model": "ada"})

    assert scan.collect()["model_id"].to_list() == ["old-0", "old-1"]


def test_more_partitions_than_a_process_may_open_are_read(lake: Lake) -> None:
    keys = [f"model-{number:03}" for number in range(260)]
    for key in keys:
        lake.write(core.MODELS, {"model": key}, model_rows(key), inputs="")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_open = len(os.listdir("/proc/self/fd"))  # noqa: PTH208  no path, a count
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open + 150, before[1]))

    try:
        rows = lake.read(core.MODELS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert rows["model_id"].to_list() == [f"{key}-0" for key in keys]


def test_object_storage_holds_the_same(tmp_path: Path) -> None:
    remote = Lake(root=f"memory://{tmp_path.name}/lake")
    local = Lake(root=str(tmp_path / "lake"))
    cell = {"benchmark": "a/b", "model": ".."}
    for lake in (remote, local):
        lake.write(core.SCORES, cell, _scores(), inputs="from x")

    assert remote.partitions(core.SCORES) == local.partitions(core.SCORES)
    assert_frame_equal(remote.read(core.SCORES), local.read(core.SCORES))
    assert remote.stored(core.SCORES, cell) == local.stored(core.SCORES, cell)
    remote.remove(core.SCORES, cell)
    assert remote.read(core.SCORES).is_empty()


def test_rejected_rows_are_kept_beside_the_lake(lake: Lake) -> None:
    place = lake.quarantine(core.MODELS, {"model": "a/b"}, model_rows("bad"))

    assert pl.read_parquet(place)["model_id"].to_list() == ["bad-0"]
    assert lake.partitions(core.MODELS) == []
    assert not Path(place).is_relative_to(lake.root)


def _write_for_ever(root: str) -> None:
    lake = Lake(root=root)
    versions = [model_rows(name, n=20_000) for name in ("odd", "even")]
    number = 0
    while True:
        lake.write(core.MODELS, {"model": "ada"}, versions[number % 2], inputs="")
        number += 1


@pytest.mark.slow
def test_a_killed_writer_leaves_a_whole_partition(lake: Lake) -> None:
    whole = {content_of(model_rows(name, n=20_000)) for name in ("odd", "even")}
    pauses = [0.01, 0.013, 0.017, 0.021, 0.03, 0.041]

    for pause in pauses:
        writer = start(_write_for_ever, lake.root)
        while lake.stored(core.MODELS, {"model": "ada"}) is None:
            time.sleep(0.005)
        time.sleep(pause)
        writer.kill()
        writer.join()

        assert writer.exitcode == -9
        assert content_of(lake.read(core.MODELS)) in whole
        assert lake.partitions(core.MODELS) == [{"model": "ada"}]


def test_a_failed_write_leaves_nothing_behind(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.write(core.MODELS, {"model": "ada"}, model_rows("old"), inputs="")

    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        lake.write(core.MODELS, {"model": "ada"}, model_rows("new"), inputs="")

    file = Path(str(lake.file(core.MODELS, {"model": "ada"})))
    assert [found.name for found in file.parent.iterdir()] == ["part.parquet"]
    assert lake.read(core.MODELS)["model_id"].to_list() == ["old-0"]


def _scores() -> pl.DataFrame:
    known = pl.DataFrame(
        {"score": [0.1, None, float("nan")], "is_drifted": [True, None, False]}
    )
    return filled_up(core.SCORES, known)


def _mixed() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "text": ["", None, "null", "é数"] * 700,
            "texts": [[], None, ["a", "b"], ["ab"]] * 700,
            "number": [0.0, None, 0.1 + 0.2, -1.5] * 700,
            "count": list(range(2800)),
        }
    )


def test_the_hash_does_not_depend_on_chunks() -> None:
    rows = _mixed()
    chunked = pl.concat([rows[:7], rows[7:1000], rows[1000:]], rechunk=False)

    assert chunked.n_chunks() == 3
    assert content_of(chunked) == content_of(rows)


@pytest.mark.slow
def test_the_hash_does_not_depend_on_the_process() -> None:
    code = (
        "from tests.dagster.test_lake import _mixed;"
        "from skillmap_dagster.resources.lake import content_of;"
        "print(content_of(_mixed()))"
    )
    environments = [("0", "1"), ("1", "2")]

    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed, threads in environments
    }

    assert printed == {content_of(_mixed())}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": ["x"], "b": ["y"]}, {"a": ["y"], "b": ["x"]}),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}),
        ({"a": ["x"]}, {"b": ["x"]}),
        ({"a": [["x", "y"]]}, {"a": [["xy"]]}),
        ({"a": [["x", "y"]]}, {"a": [["y", "x"]]}),
        ({"a": [["x"], ["y"]]}, {"a": [["x", "y"], []]}),
        ({"a": [[""]]}, {"a": [[None]]}),
        ({"a": [1]}, {"a": [1.0]}),
        ({"a": [True, None]}, {"a": [True, False]}),
        ({"a": [0.1 + 0.2]}, {"a": [0.3]}),
    ],
)
def test_frames_that_differ_have_different_hashes(
    one: dict[str, list[object]], other: dict[str, list[object]]
) -> None:
    assert content_of(pl.DataFrame(one)) != content_of(pl.DataFrame(other))


@pytest.mark.parametrize(
    ("dtype", "one"),
    [
        (pl.String(), ""),
        (pl.List(pl.String()), []),
        (pl.List(pl.String()), [None]),
        (pl.Int64(), 0),
        (pl.Float64(), float("nan")),
        (pl.Boolean(), False),
    ],
)
def test_a_missing_value_has_a_hash_of_its_own(dtype: pl.DataType, one: object) -> None:
    known, missing = (
        content_of(pl.DataFrame({"a": [value]}, {"a": dtype})) for value in (one, None)
    )

    assert known != missing


def test_parts_of_inputs_cannot_run_into_each_other() -> None:
    assert inputs_of(["ab", "c"]) != inputs_of(["a", "bc"])
    assert inputs_of([]) != inputs_of([""])


def test_queries_see_the_lake_as_it_would_be(lake: Lake) -> None:
    for model in ("ada", "bob"):
        lake.write(core.MODELS, {"model": model}, model_rows(model), inputs="")
    candidate = (core.MODELS, {"model": "ada"}, model_rows("new"))

    with lake.session([core.MODELS], candidate=candidate) as connection:
        seen = connection.sql("select model_id from core.models").fetchall()

    assert seen == [("new-0",)]
    assert lake.read(core.MODELS)["model_id"].to_list() == ["ada-0", "bob-0"]
