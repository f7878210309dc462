import polars as pl

from skillmap.contracts import core
from skillmap.contracts.audit import violations
from skillmap.items.annotations import rationales, skill_mentions
from skillmap.items.matching import BenchmarkSource
from tests.builders import NO_ORDER, make_source

RATIONALE = """\
Step 1: Add the numbers.
Skills: arithmetic -> adding
Step 2: Name the result.
Skills: reading
Answer: B"""


def read(*sources: BenchmarkSource) -> pl.DataFrame:
    made = rationales("quiz", sources, NO_ORDER)
    assert violations(core.RATIONALES, core.RATIONALES.conform(made)) == []
    return made


def mentioned(*sources: BenchmarkSource) -> pl.DataFrame:
    made = skill_mentions("quiz", sources, NO_ORDER, read(*sources))
    conformed = core.SKILL_MENTIONS.conform(made)
    assert violations(core.SKILL_MENTIONS, conformed) == []
    return made


def phrases(source_id: str = "f1", **columns: object) -> BenchmarkSource:
    told = {"level_index": 0, "annotator": "ann", **columns}
    return make_source(source_id, skills=told)


def texts(source_id: str = "f1", **columns: object) -> BenchmarkSource:
    return make_source(source_id, rationales={"annotator": "ann", **columns})


def test_a_rationale_is_kept_with_its_item_annotator_and_source() -> None:
    made = read(texts(position=[0], native_id=["7"], rationale=[RATIONALE]))

    assert made.select("rationale_id", "item_id", "source_id", "rationale").rows() == [
        ("quiz:7#ann", "quiz:7", "f1", RATIONALE)
    ]
    assert made["n_steps"].to_list() == [2]


def test_the_first_rationale_of_an_item_and_annotator_counts() -> None:
    later = texts("f2", position=[0], native_id=["7"], rationale=["other"])
    first = texts("f1", position=[5], native_id=["7"], rationale=["this"])

    assert read(later, first)["rationale"].to_list() == ["this"]


def test_annotators_of_one_item_are_kept_apart() -> None:
    source = texts(
        position=[0, 1], native_id=["7", "7"], annotator=["b", "a"], rationale="text"
    )

    assert read(source)["rationale_id"].to_list() == ["quiz:7#a", "quiz:7#b"]


def test_an_annotator_that_nobody_names_is_unknown() -> None:
    source = make_source(
        rationales={"position": [0], "native_id": ["7"], "rationale": ["text"]}
    )

    assert read(source)["annotator"].to_list() == ["unknown"]


def test_an_empty_rationale_is_kept_as_empty() -> None:
    made = read(texts(position=[0], native_id=["7"], rationale=[" "]))

    assert made["parse_status"].to_list() == ["empty"]


def test_mentions_stand_at_their_step_and_level_of_the_rationale() -> None:
    made = mentioned(texts(position=[0], native_id=["7"], rationale=[RATIONALE]))

    assert made.select("mention_id", "step_index", "phrase").rows() == [
        ("quiz:7#ann#0", 0, "arithmetic"),
        ("quiz:7#ann#1", 0, "adding"),
        ("quiz:7#ann#2", 1, "reading"),
    ]
    assert made["rationale_id"].unique().to_list() == ["quiz:7#ann"]
    spans = made.select("span_start", "span_end").rows()
    assert all(RATIONALE[a:b].startswith("Step") for a, b in spans)


def test_bare_phrases_are_numbered_by_item_and_annotator() -> None:
    source = phrases(
        position=[0, 0, 1],
        native_id=["7", "7", "8"],
        phrase=["Adding fractions", "Reading", "Reading"],
        level_index=[0, 1, 0],
    )

    made = mentioned(source)

    assert made.select("mention_id", "level_index", "normalised_phrase").rows() == [
        ("quiz:7#ann#0", 0, "adding fractions"),
        ("quiz:7#ann#1", 1, "reading"),
        ("quiz:8#ann#0", 0, "reading"),
    ]
    assert made["rationale_id"].null_count() == 3


def test_a_phrase_that_several_files_repeat_is_one_mention() -> None:
    told = {"position": [0], "native_id": ["7"], "phrase": ["adding"]}

    made = mentioned(phrases("f2", **told), phrases("f1", **told))

    assert made.select("source_id", "phrase").rows() == [("f1", "adding")]


def test_phrases_follow_the_mentions_of_the_rationale() -> None:
    source = make_source(
        skills={
            "position": [0],
            "native_id": ["7"],
            "phrase": ["counting"],
            "level_index": 0,
            "annotator": "ann",
        },
        rationales={
            "position": [0],
            "native_id": ["7"],
            "rationale": [RATIONALE],
            "annotator": "ann",
        },
    )

    assert mentioned(source)["phrase"].to_list() == [
        "arithmetic",
        "adding",
        "reading",
        "counting",
    ]


def test_the_order_of_the_sources_does_not_matter() -> None:
    a = phrases("f1", position=[0, 1], native_id=["7", "8"], phrase=["x", "y"])
    b = phrases("f2", position=[0, 1], native_id=["8", "7"], phrase=["z", "w"])

    assert mentioned(a, b).equals(mentioned(b, a))


def test_what_is_about_no_item_is_left_to_the_rejects() -> None:
    source = phrases(position=[0, 1], native_id=[None, "8"], phrase=["x", "y"])

    assert mentioned(source)["phrase"].to_list() == ["y"]


def test_sources_without_annotations_have_none() -> None:
    assert mentioned(make_source()).is_empty()
