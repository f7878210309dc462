"""Small result files in the generic form, and what the tables hold."""

import json
from collections.abc import Sequence
from pathlib import Path

from skillmap.contracts import TABLES, core
from skillmap_dagster.importing import paths_request, register
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.settings import AnalysisSettings
from skillmap_dagster.runs import Outcome, Platform

PHRASES = ("adding fractions", "reading a chart", "solving for x")
N_ITEMS = 12
N_PHRASE_ITEMS = N_ITEMS // len(PHRASES)

# Content by table and partition, such as ("core.scores", ("sums", "ada")).
Contents = dict[tuple[str, tuple[str, ...]], str]


def write_results(
    folder: Path,
    benchmark: str,
    model: str,
    *,
    n_items: int = N_ITEMS,
    n_right: int | None = None,
    empty: bool = False,
    names_skills: bool = True,
) -> Path:
    """A file of one model's results: the first ``n_right`` items are right."""
    right = n_items // 2 if n_right is None else n_right
    records: list[dict[str, object]] = [
        {
            "benchmark": benchmark,
            "item_id": f"{benchmark}-{number}",
            "question": f"Question {number} of {benchmark}?",
            "answer": str(number),
            "model": model,
            "response": "" if empty else f"The answer is {number}.",
            "score": 0 if empty else int(number < right),
        }
        for number in range(n_items)
    ]
    for number, record in enumerate(records if names_skills else ()):
        record["skill"] = [PHRASES[number % len(PHRASES)]]
        record["annotator"] = "annotator-1"
    return write_records(folder / f"{benchmark}-{model}.jsonl", records)


def write_records(file: Path, records: Sequence[dict[str, object]]) -> Path:
    """The records as JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    file.write_text(lines, "utf-8")
    return file


def write_grid(
    folder: Path,
    *,
    benchmarks: Sequence[str] = ("sums", "charts"),
    models: Sequence[str] = ("ada", "bob"),
) -> Path:
    """A file for each benchmark and model; each model is right on some items more."""
    for benchmark in benchmarks:
        for number, model in enumerate(models):
            write_results(folder, benchmark, model, n_right=4 + 2 * number)
    return folder


def new_platform(home: Path, *, minimum_slice_items: int = 5) -> Platform:
    """A platform whose slices may be small."""
    platform = Platform.at(home)
    chosen = AnalysisSettings(minimum_slice_items=minimum_slice_items)
    platform.resources["settings"].write(chosen)
    return platform


def bring_in(platform: Platform, *paths: Path) -> Outcome:
    """Import the files, and make what they change."""
    register(paths_request(paths), platform.resources["registry"])
    return platform.bring_up_to_date()


def n_right(lake: Lake, benchmark: str, model: str) -> float:
    """Sum of the scores that the source itself gave."""
    scores = lake.read(core.SCORES, benchmark=benchmark, model=model)
    return scores.filter(extractor="source")["score"].sum()


def contents(lake: Lake) -> Contents:
    """Hash of the rows of every partition that is there."""
    found: Contents = {}
    for table in TABLES.values():
        for partition in lake.partitions(table):
            stored = lake.stored(table, partition)
            assert stored is not None
            found[str(table), tuple(partition.values())] = stored.content
    return found


def stamps(lake: Lake) -> dict[tuple[str, tuple[str, ...]], int]:
    """Inode of every partition's file, which is another if it was rewritten."""
    return {
        (str(table), tuple(partition.values())): lake.file(table, partition)
        .stat()
        .st_ino
        for table in TABLES.values()
        for partition in lake.partitions(table)
    }
