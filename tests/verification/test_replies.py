import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.calls import Parameters, Reply
from skillmap.calls.reply import ReplyStatus
from skillmap.errors import InvalidInputError
from skillmap.prompting.item_calls import Asked
from skillmap.verification.calls import verification_calls
from skillmap.verification.replies import (
    VERDICTS_SCHEMA,
    Verdict,
    read_verdicts,
    verdict_in,
    verdicts_of,
)
from skillmap.verification.sampling import sample_checks
from tests.verification.planted import corpus, item_skills, items_of

IDS = ["s1", "s2", "s3"]
YES, NO = (
    Verdict(is_relevant=True, reason=None),
    Verdict(is_relevant=False, reason=None),
)
TRUTH = {"s1": YES, "s2": NO, "s3": YES}
AS_A_LIST = """[{"id": "s2", "relevant": false}, {"id": "s1", "relevant": true},
 {"skill_id": "S3", "verdict": "relevant"}]"""


def none(reason: str) -> Verdict:
    return Verdict(None, reason)


def read(text: str | None, status: ReplyStatus = "answered") -> dict[str, Verdict]:
    return verdicts_of(Reply("key", status, text), IDS)


@pytest.mark.parametrize(
    "text",
    [
        '{"s1": true, "s2": false, "s3": true}',
        '{"s3": true, "s2": false, "s1": true}',
        "```json\n{'s1': True, 's2': False, 's3': True,}\n```",
        'Here you go: {"s1": "relevant", "s2": "not relevant", "s3": "Yes."}',
        '{"verdicts": {"s1": true, "s2": false, "s3": true}}',
        AS_A_LIST,
        '{"s1": {"relevant": true}, "s2": {"verdict": "irrelevant"}, "s3": true}',
        '{"s1": true, "s2": false, "s3": true, "s9": false}',
        '{"s1": true, "s1": true, "s2": false, "s3": true}',
        "<think>s1: not relevant</think>s1: relevant\ns2: not relevant\ns3: relevant",
        "s3: relevant\n\ns1: relevant\ns2: NOT relevant",
        "- **s1**: Relevant\n- **s2**: Not relevant (no table)\n- **s3**: Relevant.",
        "1. s3 - relevant\n2. s2 - isn\u2019t relevant\n3. s1 - relevant, as it adds",
        "Sure! Of s1 to s3:\ns1 sums: relevant\ns2 maps: not relevant\ns3 -> yes",
        "s1 to s3 are judged here.\ns1: true\ns2: false\ns3: true\ns7: false",
        "| s1 | sums | relevant |\n| s2 | maps | not relevant |\n| s3 | x | yes |",
    ],
)
def test_verdicts_are_read_by_id_however_they_are_written(text: str) -> None:
    assert read(text) == TRUTH


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"s1": true, "s1": false, "s2": false}', (none("contradiction"), NO)),
        (
            "s1: relevant\ns2: not relevant\ns1: not relevant",
            (none("contradiction"), NO),
        ),
        ("s1: perhaps\ns2: not relevant", (none("unreadable"), NO)),
        ("s1: not only relevant but central\ns2: no", (none("unreadable"), NO)),
        ('{"s1": 3, "s2": false}', (none("unreadable"), NO)),
        ("relevant\nnot relevant", (none("missing"), none("missing"))),
        ("I'm sorry, I can't help with that.", (none("refused"), none("refused"))),
    ],
)
def test_what_cannot_be_read_has_no_verdict_and_a_reason(
    text: str, expected: tuple[Verdict, Verdict]
) -> None:
    verdicts = read(text)

    assert (verdicts["s1"], verdicts["s2"]) == expected
    assert verdicts["s3"].is_relevant is None


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ('{"s1": true, "s2": fal', "truncated", "truncated"),
        ("<think>s1: relevant", "answered", "truncated"),
        ("", "answered", "empty"),
        (None, "filtered", "filtered"),
        (None, "error", "error"),
        (None, "not_attempted", "not_attempted"),
    ],
)
def test_what_became_of_the_reply_is_the_reason(
    text: str | None, status: ReplyStatus, reason: str
) -> None:
    assert read(text, status)["s2"] == none(reason)


def test_what_stands_before_a_cut_is_kept() -> None:
    assert read('{"s1": true, "s2": fal', "truncated")["s1"] == YES


@given(
    st.permutations([*IDS, "s8", "", "Note."]),
)
def test_neither_order_nor_other_lines_can_change_a_verdict(
    order: list[str],
) -> None:
    """The published reader matched the j-th line to the j-th skill."""
    said = {"s1": "s1: relevant", "s2": "s2: not relevant", "s3": "s3: relevant"}
    in_json = json.dumps({one: TRUTH[one].is_relevant for one in order if one in said})

    assert read("\n".join(said.get(one, one) for one in order)) == TRUTH
    assert read("Note.\n\n" + in_json) == TRUTH


@given(st.text() | st.text('s123:{}[]", \nnotrelva'))
def test_no_text_makes_it_fail(text: str) -> None:
    assert read(text).keys() == set(IDS)
    assert verdict_in(text) in (True, False, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("non-relevant", False),
        ("It is not needed - no table", False),
        ("relevant because it adds", True),
        ("No.", False),
        ("nothing", None),
        ("relevantly", None),
        ("", None),
    ],
)
def test_words_are_judged_by_what_comes_first(
    text: str, *, expected: bool | None
) -> None:
    assert verdict_in(text) is expected


def test_each_check_has_one_row_in_its_order() -> None:
    checks = pl.DataFrame(
        {
            "benchmark_id": ["b"] * 4,
            "item_id": ["b:2", "b:1", "b:1", "b:3"],
            "phrase": ["u", "v", "w", "x"],
            "role": ["listed", "listed", "easy_negative", "listed"],
            "prompt_skill_id": ["s1", "s2", "s1", "s1"],
            "annotator_is_right": [True, False, False, None],
        }
    )
    replies = [
        ("b:1", Reply("k1", "answered", "s1: no\ns2: yes")),
        ("b:1", Reply("k9", "answered", "s1: yes\ns2: no")),
        ("b:2", Reply("k2", "refused")),
        ("b:8", Reply("k3", "answered", "s1: yes")),
    ]

    verdicts = read_verdicts(checks, replies, verifier="judge")

    assert verdicts.columns == [*VERDICTS_SCHEMA, "annotator_is_right"]
    columns = ("phrase", "verifier", "is_relevant", "reason", "call_key")
    assert verdicts.select(columns).rows() == [
        ("u", "judge", None, "refused", "k2"),
        ("v", "judge", True, None, "k1"),
        ("w", "judge", False, None, "k1"),
        ("x", "judge", None, "not_attempted", None),
    ]


def test_each_verifier_sees_the_skills_in_an_order_of_its_own_under_one_id() -> None:
    skills = item_skills(12)
    checks = sample_checks(skills, *corpus()).checks
    items = items_of(skills)

    def seen(model: str, seed: int = 0) -> list[list[str]]:
        asked = Asked(model, model, Parameters(max_tokens=100))
        calls = verification_calls(checks, items, asked, seed=seed, form="lines")
        contents = [call.messages[-1].content for call in calls]
        return [text.split("Skills:\n")[1].split("\n") for text in contents]

    first, second = seen("one"), seen("two")

    assert first == seen("one")
    assert first != second
    assert first != seen("one", seed=1)
    assert [sorted(lines) for lines in first] == [sorted(lines) for lines in second]
    assert [sorted(lines) for lines in first] == [
        sorted(f"{a}: {b}" for a, b in rows.select("prompt_skill_id", "phrase").rows())
        for _, rows in checks.sort("item_id").group_by("item_id", maintain_order=True)
    ]


def test_the_schema_asks_for_every_id_and_the_role_is_not_told() -> None:
    skills = item_skills(2)
    checks = sample_checks(skills, *corpus()).checks
    asked = Asked("one", "one", Parameters(max_tokens=100))

    call = next(verification_calls(checks, items_of(skills), asked))

    assert call.structure is not None
    schema = json.loads(call.structure.schema)
    assert schema["required"] == [f"s{k}" for k in range(1, 9)]
    assert schema["additionalProperties"] is False
    assert not any("negative" in message.content for message in call.messages)


def test_saved_replies_are_read_again_without_a_call() -> None:
    """lm-eval #1627: outputs that were kept are scored anew, nothing is asked."""
    skills = item_skills(3)
    checks = sample_checks(skills, *corpus()).checks
    asked = Asked("one", "one", Parameters(max_tokens=100))
    calls = list(verification_calls(checks, items_of(skills), asked))
    log = [(call.about, Reply(call.key, "answered", "s1: no")) for call in calls]

    first = read_verdicts(checks, log, verifier="one")
    again = read_verdicts(checks, log, verifier="one")

    assert again.equals(first)
    assert set(first["call_key"]) == {call.key for call in calls}
    assert [call.key for call in calls] == [
        call.key for call in verification_calls(checks, items_of(skills), asked)
    ]


def test_a_missing_column_is_named() -> None:
    checks = sample_checks(item_skills(1), *corpus()).checks
    asked = Asked("one", "one", Parameters(max_tokens=100))

    with pytest.raises(InvalidInputError, match=r"missing: \['phrase'\]"):
        verification_calls(checks.drop("phrase"), items_of(item_skills(1)), asked)
    with pytest.raises(InvalidInputError, match=r"missing: \['role'\]"):
        read_verdicts(checks.drop("role"), [], verifier="one")
