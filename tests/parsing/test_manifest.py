"""Manifests: what they may say, and the faults they are told about."""

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from skillmap.errors import ParseError
from skillmap.parsing.manifest import (
    SourceSpec,
    canonical_model_name,
    expand,
    list_local_files,
    load_manifest,
    ordered_sources,
)
from skillmap.parsing.manifest_form import Manifest

FILES = [
    "mmlu/b.csv",
    "mmlu/a.csv",
    "mmlu/deep/c.csv",
    "eval/m-1.json",
    "bbh/snarks.json.gz",
]


def loaded(text: str) -> Manifest:
    return load_manifest(dedent(text), source_name="m.yaml")


def expanded(text: str) -> list[SourceSpec]:
    return expand(loaded(text), "root/", lambda _: reversed(FILES))


def test_a_source_says_everything_about_its_file() -> None:
    specs = expanded(
        """
        version: 1
        sources:
          - path: eval/m-1.json
            benchmark: mmlu
            model: m-1
            format: evaltree_results
            annotator: a
            category: c
            task: t
            native_id_prefix: p/
            match: position
        """
    )

    assert specs == [
        SourceSpec(
            path="root/eval/m-1.json",
            name="eval/m-1.json",
            benchmark="mmlu",
            model="m-1",
            format="evaltree_results",
            annotator="a",
            category="c",
            task="t",
            native_id_prefix="p/",
            match="position",
            defines_order=False,
        )
    ]
    assert hash(specs[0])
    assert specs[0].options().annotator == "a"


def test_a_glob_stays_within_a_folder_and_gives_sorted_paths() -> None:
    specs = expanded("{version: 1, sources: [{path: 'mmlu/*.csv'}]}")

    assert [spec.name for spec in specs] == ["mmlu/a.csv", "mmlu/b.csv"]


def test_two_stars_reach_into_folders() -> None:
    specs = expanded("{version: 1, sources: [{path: 'mmlu/**/*.csv'}]}")

    assert [spec.name for spec in specs] == [
        "mmlu/a.csv",
        "mmlu/b.csv",
        "mmlu/deep/c.csv",
    ]


def test_a_category_can_be_taken_from_the_file_name() -> None:
    specs = expanded(
        "{version: 1, sources: [{path: mmlu/a.csv, category: {from_name: '*.csv'}}]}"
    )

    assert specs[0].category == "a"


def test_the_task_is_the_name_without_suffixes_unless_told() -> None:
    specs = expanded("{version: 1, sources: [{path: 'bbh/*'}]}")

    assert specs[0].task == "snarks"


ORDERED = """
version: 1
benchmarks:
  mmlu: {order: [mmlu/b.csv, "mmlu/*.csv"]}
sources:
  - {path: "mmlu/*.csv", benchmark: mmlu}
  - {path: eval/m-1.json, benchmark: mmlu}
"""


def test_an_order_lists_each_of_its_sources_once() -> None:
    specs = expanded(ORDERED)

    ordered = ordered_sources(loaded(ORDERED), "mmlu", specs)

    assert [spec.name for spec in ordered] == ["mmlu/b.csv", "mmlu/a.csv"]
    assert [spec.defines_order for spec in specs] == [True, True, False]
    assert ordered_sources(loaded(ORDERED), "other", specs) == []


def test_a_source_that_defines_the_order_is_matched_by_position() -> None:
    first, _, last = expanded(ORDERED)

    assert first.match_for("routellm_csv") == "position"
    assert last.match_for("routellm_csv") == "question"
    assert last.match_for("mmlu_pro_results") == "id"
    assert last.match_for("bbh_task") == "own"
    assert replace(first, match="id").match_for("routellm_csv") == "id"


def test_the_files_of_a_folder_are_listed_below_it(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/x.json", "a.json"):
        (tmp_path / name).write_text("[1]", encoding="utf-8")

    assert list_local_files(str(tmp_path)) == ["a.json", "b/x.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{version: 1, sources: [{path: 'none/*.csv'}]}",
            r"sources\[0\]\.path: no file under 'root' matches 'none/\*\.csv'",
        ),
        (
            "{version: 1, sources: [{path: 'mmlu/*.csv'}, {path: mmlu/a.csv}]}",
            r"sources\[1\]\.path: 'mmlu/a\.csv' is a source already, by sources\[0\]",
        ),
        (
            "{version: 1, sources: [{path: mmlu/a.csv, task: {from_name: 'x_*'}}]}",
            r"sources\[0\]\.task\.from_name: file name 'a\.csv' does not fit 'x_\*'",
        ),
        (
            """
            version: 1
            benchmarks: {b: {order: [mmlu/a.csv]}}
            sources: [{path: mmlu/a.csv, benchmark: other}]
            """,
            r"benchmarks\.b\.order\[0\]: no source of this benchmark matches 'mmlu/a",
        ),
    ],
)
def test_files_that_do_not_fit_are_errors_with_their_place(
    text: str, message: str
) -> None:
    with pytest.raises(ParseError, match=message):
        expanded(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sources: [{path: a}]", r"m\.yaml: 1 faults: version: is required"),
        ("version: 1", r"sources: is required"),
        ("{version: 2, sources: [{path: a}]}", r"version: input should be 1, got '2'"),
        ("{version: 1, sources: []}", r"sources: .* at least 1 item"),
        (
            "{version: 1, sources: [{path: a, modle: m}]}",
            r"sources\[0\]\.modle: unknown key. Known here: path, benchmark, model",
        ),
        (
            "{version: 1, sources: [{path: a, model: 4}]}",
            r"sources\[0\]\.model: must be a text, got '4'. Put it in quotes",
        ),
        (
            "{version: 1, sources: [{path: a, model: 'x|y'}]}",
            r"sources\[0\]\.model: a name must not contain '\|'",
        ),
        (
            "{version: 1, sources: [{path: a, format: csv}]}",
            r"sources\[0\]\.format: format must be one of .*'bbh_task'.*, got 'csv'",
        ),
        (
            "{version: 1, sources: [{path: a, match: name}]}",
            r"sources\[0\]\.match: input should be 'id', 'position' or 'question'",
        ),
        (
            "{version: 1, sources: [{path: ../a}]}",
            r"sources\[0\]\.path: a path must be relative",
        ),
        (
            "{version: 1, sources: [{path: a}, {path: a}]}",
            r"sources: path 'a' is named twice",
        ),
        (
            "{version: 1, sources: [{path: a, category: {from_name: 'x'}}]}",
            r"from_name: a name pattern must hold exactly one \*",
        ),
        (
            "{version: 1, models: {a: [x], b: [x]}, sources: [{path: a}]}",
            r"models: 'x' names both 'a' and 'b'",
        ),
        (
            "{version: 1, benchmarks: {b: {}}, sources: [{path: a}]}",
            r"benchmarks\.b: give either order \(paths\) or n_items",
        ),
        (
            "{version: 1, benchmarks: {b: {size: 1}}, sources: [{path: a}]}",
            r"benchmarks\.b\.size: unknown key. Known here: order, n_items",
        ),
        (
            "{version: 1, version: 1, sources: [{path: a}]}",
            r"not YAML: key 'version' is given twice, again on line 1",
        ),
        (
            "{version: 1, sources: [a]}",
            r"sources\[0\]: input should be a valid dictionary .*, got 'a'",
        ),
        (
            "{version: 1, sources: [{path: a, task: {name: b}}]}",
            r"task\.FromName\.name: unknown key. Known here: from_name",
        ),
        ("version: [", r"m\.yaml: not YAML: while parsing"),
        ("- a", r"must be a mapping with version and sources"),
        ("", r"must be a mapping with version and sources, found 'null'"),
        ("!!python/object/apply:os.getcwd []", r"not YAML: could not determine"),
    ],
)
def test_a_fault_names_its_place_and_rule(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        loaded(text)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ParseError, match=r"2 faults: version: .*; sources\[0\]\.x:"):
        loaded("{version: 2, sources: [{path: a, x: 1}]}")


ALIASES = {"model 2": ["m-v2", "org/m2"], "org/kept": []}


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("m-v2", "model 2"),
        ("org/m-v2", "model 2"),
        ("org/m2", "model 2"),
        ("m2", "m2"),
        ("model 2", "model 2"),
        ("org/kept", "org/kept"),
        ("mistralai/Mixtral-8x7B", "Mixtral-8x7B"),
        ("org/", "org/"),
    ],
)
def test_a_model_has_one_name(name: str, canonical: str) -> None:
    assert canonical_model_name(name, ALIASES) == canonical


def test_an_organisation_can_be_kept() -> None:
    assert canonical_model_name("o/m", {}, keep_organisation=True) == "o/m"
    assert canonical_model_name("org/m2", ALIASES, keep_organisation=True) == "model 2"
