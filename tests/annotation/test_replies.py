import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillmap.annotation.replies import Annotations, read_annotations
from skillmap.calls import Reply
from skillmap.calls.reply import REPLY_STATUSES, ReplyStatus
from skillmap.errors import InvalidInputError
from skillmap.parsing.rationales import parse_rationales

STEPS = [
    {
        "title": "Read",
        "skill": ["Perception", "text reading", "finding a fact"],
        "evidence": '"a"',
        "conclusion": "It says a.",
    },
    {
        "title": "Work",
        "skill": ["Reasoning", "logic", "elimination"],
        "evidence": "step 1",
        "conclusion": "So B.",
    },
]
WHOLE = json.dumps({"steps": STEPS, "answer": "B"})
MARKDOWN = """1. **Step 1: Read**
   - **Skill:** Perception: text reading, finding a fact
   - **Evidence:** "a"
   - **Conclusion:** It says a.

2. **Step 2: Work**
   - **Skill:** Reasoning: logic, elimination
   - **Evidence:** step 1
   - **Conclusion:** So B.

ANSWER: B"""
PHRASES = [
    "Perception",
    "text reading",
    "finding a fact",
    "Reasoning",
    "logic",
    "elimination",
]


def read(*replies: Reply) -> Annotations:
    items = pl.DataFrame({"item_id": [f"b:{k}" for k in range(len(replies))]})
    pairs = [(f"b:{k}", reply) for k, reply in enumerate(replies)]
    return read_annotations(items, pairs, annotator="big")


def reply(text: str | None, status: ReplyStatus = "answered") -> Reply:
    return Reply("key", status, text)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (WHOLE, []),
        (MARKDOWN, []),
        (f"<think>Reasoning: wrong, path</think>\n{WHOLE}", []),
        (f"<think>**Skill:** wrong</think>\n{MARKDOWN}", []),
        (f"```json\n{WHOLE}\n```", []),
        (f"Here you are:\n{WHOLE}", ["mended_json"]),
        (WHOLE.replace("]}]", "],}],"), None),
        (WHOLE[:-1] + ",}", ["mended_json"]),
        (str({"steps": STEPS, "answer": "B"}), ["mended_json"]),
        (json.dumps(STEPS), ["mended_json", "missing_answer"]),
        (json.dumps({"rationale": {"steps": STEPS, "answer": "B"}}), ["mended_json"]),
    ],
)
def test_skills_are_read_out_of_any_form(text: str, faults: list[str] | None) -> None:
    annotations = read(reply(text))

    assert annotations.mentions["phrase"].to_list() == PHRASES
    if faults is not None:
        assert annotations.rationales["faults"].to_list() == [faults]
    assert annotations.counts() == {"answered": 1}


def test_a_rationale_read_again_gives_the_same_skills() -> None:
    """The tables read ``core.rationales`` again for the mentions."""
    annotations = read(
        reply(WHOLE[:200], "truncated"), reply(MARKDOWN[:200], "truncated")
    )

    again = parse_rationales(annotations.rationales)

    assert again.mentions.equals(annotations.mentions)
    for mention in annotations.mentions.iter_rows(named=True):
        (text,) = annotations.rationales.filter(item_id=mention["item_id"])["rationale"]
        assert mention["phrase"] in text[mention["span_start"] : mention["span_end"]]


def test_a_rationale_that_is_cut_off_keeps_its_whole_steps() -> None:
    cut = WHOLE.index("elimination") + 5
    cut_lines = MARKDOWN.index("elimination") + 5

    annotations = read(
        reply(WHOLE[:cut], "truncated"), reply(MARKDOWN[:cut_lines], "truncated")
    )

    in_json = annotations.mentions.filter(item_id="b:0")["phrase"].to_list()
    in_lines = annotations.mentions.filter(item_id="b:1")["phrase"].to_list()
    assert in_json == PHRASES[:5]
    assert in_lines == PHRASES[:3]
    assert all("truncated" in f for f in annotations.rationales["faults"])
    assert set(annotations.rationales["parse_status"]) == {"parsed_with_faults"}
    assert annotations.counts() == {"truncated": 2}


def test_a_list_of_skills_is_read_without_a_solution() -> None:
    annotations = read(
        reply("- reading a table\n- dividing fractions\n- unit rates"),
        reply("algebra, geom", "truncated"),
    )

    listed = annotations.mentions.filter(item_id="b:0")
    assert listed["phrase"].to_list() == [
        "reading a table",
        "dividing fractions",
        "unit rates",
    ]
    assert listed["level_index"].to_list() == [1, 1, 1]
    assert annotations.rationales["rationale"].to_list()[1] == "algebra"


def test_what_became_of_each_reply_is_told_apart() -> None:
    """lm-eval #3382, inspect_ai #5376: truncated, empty, refused were all 'wrong'."""
    annotations = read(
        reply(WHOLE),
        reply("<think>First, the skill"),
        reply(None, "truncated"),
        reply(""),
        reply("I'm sorry, but I can't help with that."),
        reply(None, "refused"),
        reply(None, "filtered"),
        Reply("key", "error", error="500"),
        reply("Hm."),
    )

    assert annotations.statuses["reply_status"].to_list() == [
        "answered",
        "truncated",
        "truncated",
        "empty",
        "refused",
        "refused",
        "filtered",
        "error",
        "answered",
    ]
    assert annotations.statuses["error"].to_list()[7] == "500"
    assert annotations.statuses["n_mentions"].to_list()[0] == 6
    assert annotations.counts()["refused"] == 2
    assert annotations.mentions["item_id"].unique().to_list() == ["b:0"]
    assert annotations.rationales["parse_status"].to_list() == [
        "parsed",
        "no_skills",
        "no_skills",
    ]


def test_each_item_has_one_status_whatever_the_order_of_replies() -> None:
    items = pl.DataFrame({"item_id": ["b:1", "b:2", "b:3"]})
    replies = [
        ("b:9", reply(WHOLE)),
        ("b:2", reply(None, "error")),
        ("b:2", reply(WHOLE)),
        ("b:2", reply("- other")),
        ("b:1", reply(MARKDOWN)),
    ]

    annotations = read_annotations(items, replies, annotator="big")

    assert annotations.statuses["item_id"].to_list() == ["b:1", "b:2", "b:3"]
    assert annotations.statuses["reply_status"].to_list() == [
        "answered",
        "answered",
        "not_attempted",
    ]
    assert annotations.mentions.filter(item_id="b:2")["phrase"].to_list() == PHRASES


def test_one_bad_reply_among_a_thousand_stops_nothing() -> None:
    replies = [reply(WHOLE)] * 999 + [reply('{"steps": [{"skill": ' + "[" * 5_000)]

    annotations = read(*replies)

    assert annotations.rationales.height == 1_000
    assert annotations.mentions.height == 999 * 6


@given(st.text() | st.text('{}[]":,sktep'), st.sampled_from(REPLY_STATUSES))
def test_no_reply_makes_it_fail(text: str, status: ReplyStatus) -> None:
    annotations = read(reply(text, status), reply(WHOLE[: len(text)], status))

    assert annotations.statuses.height == 2


def test_no_items_give_empty_frames() -> None:
    annotations = read()

    assert annotations.statuses.is_empty()
    assert annotations.mentions.is_empty()


def test_items_without_ids_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="items must have the column item_id"):
        read_annotations(pl.DataFrame({"id": ["b:1"]}), [], annotator="big")
