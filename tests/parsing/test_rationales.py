import json
import time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillmap.errors import InvalidInputError
from skillmap.parsing.rationales import (
    Rationale,
    paper_parity_mentions,
    parse_rationale,
    parse_rationales,
)

WORKED = """\
Let us work it out step by step.

1. **Step 1: Recall what one mole weighs**
   - **Skill:** Knowledge: Chemistry: stoichiometry, molar mass
   - **Evidence:** "18 g of water" in the question.
   - **Conclusion:** One mole is 18 g.

2. **Step 2: Apply the skill of ratios**
   - **Skill:** Reasoning: algebra, ratios
   - **Calculation:** 18 / 18 = 1
   - **Evidence:** What step 1 found.
   - **Conclusion:** This skill is needed, therefore ok.

ANSWER: (B)
"""


def make_rationales(*texts: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "item_id": [f"demo/{index}" for index in range(len(texts))],
            "annotator": ["annotator"] * len(texts),
            "rationale": list(texts),
        },
        schema=dict.fromkeys(("item_id", "annotator", "rationale"), pl.String),
    )


def one_step(skill_line: str) -> str:
    return f"1. **Step 1: Look**\n   {skill_line}\n   - **Evidence:** e\n\nANSWER: A\n"


def names(parsed: Rationale) -> list[tuple[str, ...]]:
    return [chain.names for step in parsed.steps for chain in step.chains]


def skill_names(skills: str) -> list[tuple[str, ...]]:
    return names(parse_rationale(one_step(f"- **Skill:** {skills}")))


# The ordinary case


def test_a_well_formed_rationale_gives_one_row_per_name() -> None:
    parsed = parse_rationales(make_rationales(WORKED))

    assert parsed.rationales.drop("rationale").rows() == [
        ("demo/0", "annotator", "parsed", 2, 7, "B", [])
    ]
    assert parsed.mentions.select(
        "step_index", "level_index", "phrase", "family", "order"
    ).rows() == [
        (0, 0, "Knowledge", "knowledge", 0),
        (0, 1, "Chemistry", "knowledge", 1),
        (0, 2, "stoichiometry", "knowledge", 2),
        (0, 3, "molar mass", "knowledge", 3),
        (1, 0, "Reasoning", "reasoning", 4),
        (1, 1, "algebra", "reasoning", 5),
        (1, 2, "ratios", "reasoning", 6),
    ]


def test_each_mention_carries_its_step() -> None:
    mentions = parse_rationales(make_rationales(WORKED)).mentions

    last = mentions.row(-1, named=True)

    assert last["step_title"] == "Apply the skill of ratios"
    assert last["evidence"] == "What step 1 found."
    assert last["conclusion"] == "This skill is needed, therefore ok."
    block = WORKED[last["span_start"] : last["span_end"]]
    assert block.startswith("2. **Step 2:")
    assert block.endswith("therefore ok.")


def test_the_frames_have_the_promised_columns() -> None:
    parsed = parse_rationales(make_rationales())

    assert parsed.rationales.schema == {
        "item_id": pl.String,
        "annotator": pl.String,
        "rationale": pl.String,
        "parse_status": pl.String,
        "n_steps": pl.Int64,
        "n_mentions": pl.Int64,
        "answer": pl.String,
        "faults": pl.List(pl.String),
    }
    assert parsed.mentions.schema == {
        "item_id": pl.String,
        "annotator": pl.String,
        "step_index": pl.Int64,
        "level_index": pl.Int64,
        "phrase": pl.String,
        "family": pl.String,
        "step_title": pl.String,
        "evidence": pl.String,
        "conclusion": pl.String,
        "span_start": pl.Int64,
        "span_end": pl.Int64,
        "order": pl.Int64,
    }


def test_rows_keep_the_order_in_which_rationales_were_given() -> None:
    parsed = parse_rationales(make_rationales("none", WORKED, None, WORKED))

    assert parsed.rationales["item_id"].to_list() == [f"demo/{i}" for i in range(4)]
    assert parsed.mentions["item_id"].unique(maintain_order=True).to_list() == [
        "demo/1",
        "demo/3",
    ]
    assert parsed.mentions["order"].to_list() == list(range(14))


# What the published parser gets wrong, and the right reading of it


@pytest.mark.parametrize(
    "label",
    [
        "- **Skill:**",
        "- **Skills:**",
        "- **Skill**:",
        "- **Skill** :",
        "* *Skill:*",
        "* __Skill__:",
        "- Skill:",
        "- Skill -",
        "- skill:",
        "- SKILLS:",
        "Skill:",
        "Skills:",
        "### Skill\n",
        "#### **Skill:**\n",
        "### Skill:",
        "> - **Skill:**",
        "1. Skill:",
        "a) **Skills:**",
        "• Skill –",  # noqa: RUF001 - models write the en dash
        "- **Skill(s):**",
        "- **Skill 1:**",
        "- **Skills used:**",
        "- **Required skill:**",
        "- **Skill**",
        "- Skill：",  # noqa: RUF001 - the full-width colon is the case
    ],
)
def test_every_form_of_the_label_is_read(label: str) -> None:
    parsed = parse_rationale(one_step(f"{label} Knowledge: sports, skill assessment"))

    assert names(parsed) == [("Knowledge", "sports", "skill assessment")]
    assert parsed.faults == ()


@pytest.mark.parametrize(
    "conclusion",
    [
        "This skill is needed, therefore ok",
        "Skill in algebra is needed, therefore ok",
        "We use\n   skills\n   of this kind",
        "The **skill** of ratios, which matters",
        "Skill-based thinking: yes, always",
    ],
)
def test_the_word_skill_in_a_conclusion_is_no_list(conclusion: str) -> None:
    text = f"Step 1: t\n- Skill: Reasoning: a, b\n- Conclusion: {conclusion}\nANSWER: A"

    parsed = parse_rationale(text)

    assert names(parsed) == [("Reasoning", "a", "b")]


@pytest.mark.parametrize("text", [WORKED, WORKED.replace("\n\n", "\n")])
def test_steps_need_no_blank_line_between(text: str) -> None:
    parsed = parse_rationale(text)

    assert [step.title for step in parsed.steps] == [
        "Recall what one mole weighs",
        "Apply the skill of ratios",
    ]


def test_a_span_holds_bullets_that_blank_lines_part() -> None:
    text = WORKED.replace("\n   -", "\n\n   -")

    first = parse_rationale(text).steps[0]

    block = text[first.start : first.end]
    assert block.startswith("1. **Step 1")
    assert block.endswith("One mole is 18 g.")


@pytest.mark.parametrize(
    ("skills", "expected"),
    [
        ("a, and molar mass; mole ratio", [("a", "molar mass"), ("mole ratio",)]),
        ("comparing 1,000 and 2,000", [("comparing 1,000 and 2,000",)]),
        ("OCR", [("OCR",)]),
        ("null", [("null",)]),
        ("Knowledge: nan, null", [("Knowledge", "nan", "null")]),
        ("Knowledge - Chemistry - Acids", [("Knowledge", "Chemistry", "Acids")]),
        ("Knowledge > Chemistry -> pH", [("Knowledge", "Chemistry", "pH")]),
        ("Knowledge → Chemistry | pH", [("Knowledge", "Chemistry", "pH")]),
        ("Knowledge: supply and demand", [("Knowledge", "supply and demand")]),
        ("Reasoning: comparing (a, b)", [("Reasoning", "comparing (a, b)")]),
        ("Reasoning: reading f[x, y: z]", [("Reasoning", "reading f[x, y: z]")]),
        ("Reasoning: from [a, b), sets", [("Reasoning", "from [a, b)", "sets")]),
        ("Reasoning: comparing (a, b", [("Reasoning", "comparing (a", "b")]),
        ("Reasoning: 3:4 ratios, 2.5 m", [("Reasoning", "3:4 ratios", "2.5 m")]),
        ("Reasoning: 7 - 5, x > 3", [("Reasoning", "7 - 5", "x > 3")]),
        ("Reasoning: speed/velocity", [("Reasoning", "speed", "velocity")]),
        ("Reasoning: km/h, 1/2, and/or", [("Reasoning", "km/h", "1/2", "and/or")]),
        ("Knowledge: law in the U.S.", [("Knowledge", "law in the U.S.")]),
        ("Knowledge: law, molar mass.", [("Knowledge", "law", "molar mass")]),
        ("[Knowledge: law, torts]", [("Knowledge", "law", "torts")]),
        ("**Knowledge:** *law*, `torts`", [("Knowledge", "law", "torts")]),
        ('Knowledge: "law", AND gates', [("Knowledge", "law", "AND gates")]),
        ("Wissen: Mathe, Brüche kürzen", [("Wissen", "Mathe", "Brüche kürzen")]),
        ("知识：化学，摩尔质量", [("知识", "化学", "摩尔质量")]),  # noqa: RUF001
        (", ; : -- ##", []),
    ],
)  # fmt: skip
def test_a_skill_line_is_split_where_levels_part(
    skills: str, expected: list[tuple[str, ...]]
) -> None:
    assert skill_names(skills) == expected


def test_skills_after_a_semicolon_are_chains_of_the_same_family() -> None:
    text = one_step(
        "- **Skill:** Knowledge: law, torts; contracts; Reasoning: logic, sets"
    )

    mentions = parse_rationales(make_rationales(text)).mentions

    assert mentions.select("phrase", "family", "level_index").rows() == [
        ("Knowledge", "knowledge", 0),
        ("law", "knowledge", 1),
        ("torts", "knowledge", 2),
        ("contracts", "knowledge", 1),
        ("Reasoning", "reasoning", 0),
        ("logic", "reasoning", 1),
        ("sets", "reasoning", 2),
    ]


@pytest.mark.parametrize("line_break", ["\r\n", "\r"])
def test_offsets_of_other_line_breaks_refer_to_the_original(line_break: str) -> None:
    text = WORKED.replace("\n", line_break)

    parsed = parse_rationale(text)

    assert names(parsed) == names(parse_rationale(WORKED))
    blocks = [text[step.start : step.end] for step in parsed.steps]
    expected = [WORKED[s.start : s.end] for s in parse_rationale(WORKED).steps]
    assert [block.replace(line_break, "\n") for block in blocks] == expected


# Lists, tables, code, references


def test_a_nested_list_is_a_tree_of_skills() -> None:
    text = (
        "Step 1: t\nSkill:\n- Knowledge\n  - Chemistry\n    - acids\n    - bases\n"
        "- Reasoning: logic\nEvidence: e\nANSWER: A"
    )

    assert names(parse_rationale(text)) == [
        ("Knowledge", "Chemistry", "acids"),
        ("Knowledge", "Chemistry", "bases"),
        ("Reasoning", "logic"),
    ]


def test_bullets_below_a_skill_line_are_more_specific() -> None:
    text = one_step("- Skill: Knowledge: law\n     - torts\n     - contracts")

    assert names(parse_rationale(text)) == [
        ("Knowledge", "law", "torts"),
        ("Knowledge", "law", "contracts"),
    ]


def test_a_flat_list_under_a_family_is_one_chain() -> None:
    text = one_step("- Skill:\n   - Perception\n   - charts\n   - reading an axis")

    assert names(parse_rationale(text)) == [("Perception", "charts", "reading an axis")]


def test_bold_bullets_under_a_skill_header_are_skills() -> None:
    text = one_step(
        "- **Skills:**\n   - **Algebra:** linear equations\n   - **Law:** torts"
    )

    assert names(parse_rationale(text)) == [
        ("Algebra", "linear equations"),
        ("Law", "torts"),
    ]


def test_a_skill_line_that_ends_in_a_comma_goes_on() -> None:
    text = one_step("- **Skill:** Knowledge: law,\n     torts")

    assert names(parse_rationale(text)) == [("Knowledge", "law", "torts")]


def test_a_table_has_one_step_a_row() -> None:
    text = (
        "| Step | Title | Skill | Evidence | Conclusion |\n|---|---|---|---|---|\n"
        "| 1 | Look | Perception: charts, axes | the y axis | it is 5 |\n"
        "| 2 | Add | Reasoning: sums, carrying | row 1 | it is 7 |\n\n**Answer:** 7\n"
    )

    parsed = parse_rationale(text)

    assert [(s.title, s.evidence, s.conclusion) for s in parsed.steps] == [
        ("Look", "the y axis", "it is 5"),
        ("Add", "row 1", "it is 7"),
    ]
    assert names(parsed)[1] == ("Reasoning", "sums", "carrying")
    assert text[parsed.steps[1].start : parsed.steps[1].end].startswith("| 2 | Add |")
    assert parsed.answer == "7"


def test_a_table_can_hold_one_label_a_row() -> None:
    text = (
        "Step 1: Look\n\n| Skill | Perception: charts, axes |\n|---|---|\n"
        "| Evidence | the y axis |\n\nANSWER: 7\n"
    )

    parsed = parse_rationale(text)

    assert names(parsed) == [("Perception", "charts", "axes")]
    assert parsed.steps[0].evidence == "the y axis"


def test_labels_in_code_are_code() -> None:
    code = "```python\n# Step 9: loop\nskill: x, y\n```"
    text = WORKED.replace("18 / 18 = 1", f"\n{code}")

    parsed = parse_rationale(text)

    assert names(parsed) == names(parse_rationale(WORKED))
    assert len(parsed.steps) == 2


@pytest.mark.parametrize("opening", ["```", "```markdown"])
def test_a_fence_around_the_whole_rationale_is_no_code(opening: str) -> None:
    parsed = parse_rationale(f"{opening}\n{WORKED}```\n")

    assert names(parsed) == names(parse_rationale(WORKED))
    assert parsed.answer == "B"


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    parsed = parse_rationale(WORKED.replace("18 / 18 = 1", "\n```\n18 / 18"))

    assert names(parsed) == names(parse_rationale(WORKED))


def test_evidence_may_list_earlier_steps() -> None:
    text = WORKED.replace(
        "What step 1 found.", "\n     - Step 1: one mole\n     - Step 1: 18 g"
    )

    parsed = parse_rationale(text)

    assert len(parsed.steps) == 2
    assert parsed.steps[1].evidence == "- Step 1: one mole\n- Step 1: 18 g"


def test_all_labels_may_stand_on_one_line() -> None:
    text = (
        "1. **Step 1: Look** **Skill:** Perception: charts, axes **Evidence:** the "
        "axis **Conclusion:** it is 5 **ANSWER: 5**"
    )

    step = parse_rationale(text).steps[0]

    assert step.chains[0].names == ("Perception", "charts", "axes")
    assert (step.title, step.evidence, step.conclusion) == (
        "Look",
        "the axis",
        "it is 5",
    )
    assert parse_rationale(text).answer == "5"


@pytest.mark.parametrize(
    ("headings", "titles"),
    [
        (("1. Look", "2. Add"), ["Look", "Add"]),
        (("**Look**", "**Add**"), ["Look", "Add"]),
        (("## Look", "## Add"), ["Look", "Add"]),
        (("Step 1 - Look", "Step 2 – Add"), ["Look", "Add"]),  # noqa: RUF001
        (("### Step 1 Look", "### Step 2 Add"), ["Look", "Add"]),
        (("**Step: Look**", "**Step: Add**"), ["Look", "Add"]),
        (("Step One: Look", "Step Two: Add"), ["Look", "Add"]),
        (
            ("## Step 1\n**Step 1: Look**", "## Step 2\n**Step 2: Add**"),
            ["Look", "Add"],
        ),
        (("Step 1:", "Step 2:"), [None, None]),
        (("", ""), [None, None]),
    ],
)
def test_steps_are_found_under_any_heading_or_none(
    headings: tuple[str, str], titles: list[str | None]
) -> None:
    text = "".join(
        f"{heading}\n- Skill: Reasoning: a, b\n- Evidence: e\n- Conclusion: c\n"
        for heading in headings
    )

    parsed = parse_rationale(f"{text}ANSWER: A")

    assert [step.title for step in parsed.steps] == titles
    assert [step.conclusion for step in parsed.steps] == ["c", "c"]


@pytest.mark.parametrize(
    ("bullet", "evidence"),
    [
        ("*Evidence: the y axis*", "the y axis"),
        ("**Evidence: the y axis**", "the y axis"),
        ("**Evidence:** a **bold** axis, *so*", "a **bold** axis, *so*"),
        ("- Evidence: the y axis\n- Evidence: the x axis", "the y axis\nthe x axis"),
        ("- Evidence:\n  the y axis\n\n  the x axis", "the y axis\nthe x axis"),
    ],
)
def test_evidence_is_kept_without_the_markup_of_its_label(
    bullet: str, evidence: str
) -> None:
    text = f"Step 1: t\n- Skill: Reasoning: a\n{bullet}\n- Conclusion: c\nANSWER: A"

    step = parse_rationale(text).steps[0]

    assert (step.evidence, step.conclusion) == (evidence, "c")


def test_a_rule_between_steps_belongs_to_neither() -> None:
    text = "Step 1: t\n- Skill: Reasoning: a\n- Conclusion: c\n\n---\n\nStep 2: u\n"

    first = parse_rationale(text).steps[0]

    assert first.conclusion == "c"
    assert text[first.start : first.end].endswith("Conclusion: c")


# The answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ANSWER: (B)", "B"),
        ("**Answer:** B $7", "B $7"),
        ("**ANSWER: B**", "B"),
        ("ANSWER: B.", "B"),
        ("ANSWER: (C) 12.5", "C 12.5"),
        ("ANSWER: 12.5.", "12.5"),
        ("ANSWER: -5", "-5"),
        ("ANSWER: (x + 1)(x - 2)", "(x + 1)(x - 2)"),
        ("ANSWER: <B>", "B"),
        (r"ANSWER: $\boxed{42}$", "42"),
        (r"ANSWER: \[ \text{(B)} \]", "B"),
        ("Answer:\n\\[\n\\boxed{42}\n\\]", "42"),
        ("### Final Answer\nB", "B"),
        ("The final answer is: B", "B"),
        ("ANSWER B", "B"),
        ("So it is B. ANSWER: B", "B"),
        ("ANSWER: A\nANSWER: C\nBecause I said so.", "C"),
        ("ANSWER: A\nANSWER:", "A"),
        ("ANSWER:", None),
        ("The answer is B", None),
        ("ANSWER: null", "null"),
    ],
)
def test_the_last_answer_is_read_without_markup(line: str, answer: str | None) -> None:
    text = f"Step 1: t\n- Skill: Reasoning: a, b\n\n{line}\n"

    parsed = parse_rationale(text)

    assert parsed.answer == answer
    assert ("missing_answer" in parsed.faults) == (answer is None)


def test_text_around_the_steps_is_in_no_span() -> None:
    text = f"{WORKED}\nI hope this helps.\n"

    steps = parse_rationale(text).steps

    assert text[: steps[0].start] == "Let us work it out step by step.\n\n"
    assert text[steps[-1].end :] == "\n\nANSWER: (B)\n\nI hope this helps.\n"


def test_an_answer_bullet_does_not_end_its_step() -> None:
    text = "Step 1: t\n- Skill: Reasoning: a\n- Answer: 3\n- Conclusion: c\nANSWER: 4"

    parsed = parse_rationale(text)

    assert parsed.steps[0].conclusion == "c"
    assert parsed.answer == "4"


# Status and faults


@pytest.mark.parametrize(
    ("text", "status", "faults"),
    [
        (None, "empty", []),
        (" \r\n\t", "empty", []),
        ("I cannot help with that.", "no_skills", ["missing_answer"]),
        ("ANSWER: A", "no_skills", []),
        (WORKED, "parsed", []),
        (
            "Step 1: t\n- Evidence: e\nANSWER: A",
            "no_skills",
            ["step_without_skill"],
        ),
        (
            "Step 1: t\n- Skill:\nStep 2: u\n- Skill: Reasoning: a\nANSWER: A",
            "parsed_with_faults",
            ["step_without_skill"],
        ),
        (
            one_step("- Skill: Knowledge: " + "law, " * 300),
            "no_skills",
            ["skill_line_too_long"],
        ),
        (
            one_step("- Skill: OCR"),
            "parsed_with_faults",
            ["single_name_chain", "unknown_family"],
        ),
        (one_step("- Skill: Chemistry: a"), "parsed_with_faults", ["unknown_family"]),
        (
            "- Evidence: e\nStep 1: t\n- Skill: Reasoning: a\nANSWER: A",
            "parsed_with_faults",
            ["evidence_not_in_step"],
        ),
        (
            "Step 1: t\n- Skill: Reasoning: a",
            "parsed_with_faults",
            ["missing_answer"],
        ),
    ],
)  # fmt: skip
def test_every_rationale_has_a_status_and_its_faults(
    text: str | None, status: str, faults: list[str]
) -> None:
    rationales = parse_rationales(make_rationales(text)).rationales

    assert rationales.select("rationale", "parse_status", "faults").rows() == [
        (text, status, faults)
    ]


def test_a_step_without_skills_keeps_its_index() -> None:
    text = "Step 1: t\n- Evidence: e\nStep 2: u\n- Skill: Reasoning: a\nANSWER: A"

    parsed = parse_rationales(make_rationales(text))

    assert parsed.rationales["n_steps"].item() == 2
    assert parsed.mentions["step_index"].to_list() == [1, 1]


# The direct prompt: skills alone


@pytest.mark.parametrize(
    "header", ["", "Skills:\n", "**Skills**\n\n", "These matter:\n"]
)
def test_a_bare_list_has_one_step_a_bullet(header: str) -> None:
    text = (
        f"{header}- reading areas, volumes and lengths\n* OCR\n3. Reasoning: algebra\n"
    )

    parsed = parse_rationales(make_rationales(text))

    assert parsed.mentions.select("step_index", "phrase", "family").rows() == [
        (0, "reading areas, volumes and lengths", None),
        (1, "OCR", None),
        (2, "Reasoning", "reasoning"),
        (2, "algebra", "reasoning"),
    ]
    assert parsed.rationales.select("parse_status", "answer").rows() == [
        ("parsed", None)
    ]
    assert text[
        parsed.mentions["span_start"][1] : parsed.mentions["span_end"][1]
    ] == "* OCR"  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "First:\n- 3 x 4 = 12\n- 12 / 2 = 6\n",
        "- multiply\n- add\n\nANSWER: 6\n",
        "We look.\nWe think.\nWe add.\n- then multiply\n",
        "The order is:\n1. call for help\n2. give first aid\n\nSo it is (B).\n",
        f"{'We think about it. ' * 6}\n- multiply\n",
        f"- {'and then we go on with a sentence ' * 4}\n",
    ],
)
def test_working_in_bullets_is_no_list_of_skills(text: str) -> None:
    parsed = parse_rationale(text)

    assert parsed.steps == ()


# The JSON form


def make_structured(**changes: object) -> dict[str, object]:
    step = {
        "title": "Look",
        "skill": ["Perception", "charts, graphs", "axes"],
        "evidence": "the y axis",
        "conclusion": "it is 5",
    }
    return {"steps": [step | changes], "answer": "(B)"}


@pytest.mark.parametrize(
    "frame", ["{}", "```json\n{}\n```", "Here it is:\n\n```\r\n{}\n```\nDone."]
)
def test_the_json_form_is_read_with_or_without_a_fence(frame: str) -> None:
    text = frame.replace("{}", json.dumps(make_structured(), indent=2))

    parsed = parse_rationale(text)

    step = parsed.steps[0]
    assert step.chains[0].names == ("Perception", "charts, graphs", "axes")
    assert (step.title, step.evidence, step.conclusion) == (
        "Look",
        "the y axis",
        "it is 5",
    )
    assert json.loads(text[step.start : step.end])["title"] == "Look"
    assert (parsed.answer, parsed.faults) == ("B", ())


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        ("Knowledge: law, torts", [("Knowledge", "law", "torts")]),
        (["Knowledge: a", "Reasoning: b"], [("Knowledge", "a"), ("Reasoning", "b")]),
        ([["Knowledge", "b, c"], ["OCR"]], [("Knowledge", "b, c"), ("OCR",)]),
        ("OCR", [("OCR",)]),
        (None, []),
        (7, []),
        ([], []),
        ("law, " * 300, []),
        (["a\ud800b"], [("a\ufffdb",)]),
    ],
)  # fmt: skip
def test_a_json_skill_is_a_chain_a_line_or_a_list_of_them(
    skill: object, expected: list[tuple[str, ...]]
) -> None:
    text = json.dumps(make_structured(skill=skill))

    parsed = parse_rationales(make_rationales(text))

    assert names(parse_rationale(text)) == expected
    assert parsed.mentions["phrase"].to_list() == [
        n for chain in expected for n in chain
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("7.50", "7.50"), ("7", "7"), ("true", None), ("null", None), ('"B."', "B")],
)
def test_a_json_answer_is_kept_as_written(answer: str, expected: str | None) -> None:
    text = f'{{"answer": {answer}, "steps": [{{"skill": "Reasoning: a"}}]}}'

    parsed = parse_rationale(text)

    assert parsed.answer == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"steps": [{"skill": "Reasoning: a"}',
        '{"steps": [{"skill": NaN}]}',
        "{'steps': [{'skill': 'Reasoning: a'}]}",
        '{"steps": "none"}',
        "{" * 10,
        '{"steps":' + "[" * 100_000,
        '{"steps": [{"skill": "a: b"}]} and more',
        "{__import__('os').abort()}",
    ],
)
def test_what_is_not_strict_json_is_a_fault_and_never_run(text: str) -> None:
    rationales = parse_rationales(make_rationales(text)).rationales

    assert rationales["parse_status"].item() == "no_skills"
    assert "invalid_json" in rationales["faults"].item().to_list()


def test_json_evidence_may_be_a_list() -> None:
    text = json.dumps(make_structured(evidence=["the y axis", None, " row 1 "]))

    assert parse_rationale(text).steps[0].evidence == "the y axis\nrow 1"


def test_a_json_line_that_is_too_long_is_a_fault() -> None:
    for skill in ("law, " * 300, ["law " * 300], [["law " * 300]]):
        parsed = parse_rationale(json.dumps(make_structured(skill=skill)))

        assert parsed.faults == ("skill_line_too_long",)


def test_an_object_without_steps_is_no_rationale() -> None:
    text = '{"mass": 18}'

    assert parse_rationale(text).faults == ("invalid_json", "missing_answer")


def test_a_json_block_in_a_markdown_rationale_is_code() -> None:
    text = WORKED.replace("18 / 18 = 1", '\n```json\n{"mass": 18}\n```')

    assert names(parse_rationale(text)) == names(parse_rationale(WORKED))
    assert parse_rationale(text).faults == ()


def test_a_json_step_that_is_no_object_is_a_fault() -> None:
    text = '{"steps": ["Reasoning: a", {"skill": "Reasoning: a"}], "answer": "A"}'

    parsed = parse_rationale(text)

    assert parsed.faults == ("unreadable_step",)
    assert names(parsed) == [("Reasoning", "a")]


# Any text


def test_lone_surrogates_are_replaced_and_offsets_hold() -> None:
    step = one_step("- **Skill:** Knowledge: r\udc00le, 数学 \U0001d6fc")
    text = f"\ud800 intro\n{step}"

    parsed = parse_rationale(text)

    assert names(parsed) == [("Knowledge", "r\ufffdle", "数学 \U0001d6fc")]
    assert text[parsed.steps[0].start :].startswith("1. **Step 1: Look**")


@pytest.mark.parametrize(
    "unit",
    ["word ", "*", "- ", "\n", "|", "\n| a |", "(", "1.", "```\n", "{", "---\n", "a, ",
     "\nSkill:", "\n- Skill: a, b", "Skill: ", "\nStep 1: x", "ANSWER: ", "** a:",
     "\n  - a", '{"steps":[', "\n- **a:** b", "\r\n"],
)  # fmt: skip
def test_time_is_linear_in_the_length(unit: str) -> None:
    text = f"Step 1: t\n- Skill: {unit * (200_000 // len(unit))}"

    start = time.perf_counter()
    parse_rationale(text)
    elapsed = time.perf_counter() - start

    # A quadratic pass over 200,000 characters takes minutes, a linear one under
    # half a second; the rest is room for a busy machine.
    assert elapsed < 5


def test_a_megabyte_is_read_to_its_end() -> None:
    text = WORKED.replace("One mole is 18 g.", "so " * 350_000) + "\n"

    parsed = parse_rationale(text)

    assert names(parsed) == names(parse_rationale(WORKED))
    assert parsed.answer == "B"


fragments = st.sampled_from(
    [
        "\n", "\n\n", "\r\n", "\r", " ", "  ", "- ", "* ", "**", "*", "1. ", "## ",
        "Step 1: ", "Step 2", "Skill:", "Skills", "**Skill:** ", "Evidence:",
        "**Conclusion:** ", "ANSWER: ", "Answer", "Knowledge", ": ", ", ", "; ", " - ",
        "a", "b c", "(", ")", "|", "| Skill |", "|---|", "```", "```json\n",
        '{"steps": [', '{"skill": "a"}', "]}", "---", "\ud800", "é", "\u2028", "skill",
        "**Note:** ",
    ]
)  # fmt: skip
texts = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=60),
    st.lists(fragments, max_size=40).map("".join),
)
encodable_texts = texts.map(lambda text: text.replace("\ud800", "?")).filter(
    lambda text: text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)
)


@given(texts)
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_with_spans_in_order_and_within_it(text: str) -> None:
    steps = parse_rationale(text).steps

    bounds = [bound for step in steps for bound in (step.start, step.end)]
    assert bounds == sorted(bounds)
    assert all(0 <= bound <= len(text) for bound in bounds)
    assert all(name for step in steps for chain in step.chains for name in chain.names)


@given(st.lists(fragments, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_a_span_holds_every_phrase_of_its_step(text: str) -> None:
    text = text.replace("{", "").replace("\ud800", "?")

    for step in parse_rationale(text).steps:
        # Lines of a wrapped skill line are joined, so white space is left out.
        block = "".join(text[step.start : step.end].split())
        for chain in step.chains:
            assert all("".join(name.split()) in block for name in chain.names)


@given(st.lists(st.one_of(st.none(), encodable_texts), max_size=5))
@settings(deadline=None)
def test_each_rationale_has_exactly_one_row(given_texts: list[str | None]) -> None:
    rationales = make_rationales(*given_texts)

    parsed = parse_rationales(rationales)

    assert parsed.rationales.select(rationales.columns).equals(rationales)
    counted = parsed.mentions.group_by("item_id").len().sort("item_id")
    with_mentions = parsed.rationales.filter(pl.col("n_mentions") > 0).sort("item_id")
    assert counted.rows() == with_mentions.select("item_id", "n_mentions").rows()
    assert parsed.mentions["order"].to_list() == list(range(parsed.mentions.height))


@given(texts)
@settings(max_examples=300, deadline=None)
def test_phrases_do_not_depend_on_the_line_break(text: str) -> None:
    text = text.replace("\r", "")

    unix = parse_rationale(text)
    windows = parse_rationale(text.replace("\n", "\r\n"))
    mac = parse_rationale(text.replace("\n", "\r"))

    assert names(unix) == names(windows) == names(mac)
    assert unix.answer == windows.answer == mac.answer
    assert unix.faults == windows.faults == mac.faults


words = st.lists(
    st.sampled_from(
        ["skill", "molar", "mass", "of", "reading", "chart", "step", "x-ray"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)
chains = st.tuples(
    st.sampled_from(["Knowledge", "Perception", "Reasoning"]),
    st.lists(words, min_size=1, max_size=4),
).map(lambda chain: (chain[0], *chain[1]))
steps_of_rationales = st.lists(
    st.tuples(words, st.lists(chains, min_size=1, max_size=3), words, words),
    min_size=1,
    max_size=4,
)


@given(
    steps_of_rationales,
    st.sampled_from(
        ["   - **{}:**", "* *{}:*", "- {} -", "{}:", "### {}\n", "- **{}**:"]
    ),
    st.sampled_from(["\n", "\n\n"]),
    st.sampled_from(["\n", "\n\n", "\n\n---\n\n"]),
    st.sampled_from([": ", ", ", " > ", " - "]),
)
@settings(max_examples=200, deadline=None)
def test_a_rendered_rationale_is_read_back(
    steps: list[tuple[str, list[tuple[str, ...]], str, str]],
    label: str,
    between_bullets: str,
    between_steps: str,
    between_names: str,
) -> None:
    rendered = [
        between_bullets.join(
            [
                f"{index}. **Step {index}: {title}**",
                f"{label.format('Skill')} {'; '.join(map(between_names.join, skills))}",
                f"{label.format('Evidence')} {evidence}",
                f"{label.format('Conclusion')} {conclusion}",
            ]
        )
        for index, (title, skills, evidence, conclusion) in enumerate(steps, start=1)
    ]
    text = between_steps.join([*rendered, "ANSWER: C"])

    parsed = parse_rationale(text)

    assert [
        (s.title, [chain.names for chain in s.chains], s.evidence, s.conclusion)
        for s in parsed.steps
    ] == steps
    assert [text[s.start : s.end] for s in parsed.steps] == [
        block.strip(" ") if not block.startswith(" ") else block for block in rendered
    ]
    assert (parsed.answer, parsed.faults) == ("C", ())


@pytest.mark.real_data
def test_worked_solutions_without_labels_have_no_skills(shared: Path) -> None:
    path = shared / "data" / "gsm8k" / "example_model_solutions.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    solutions = [json.loads(line)["175b_finetuning"]["solution"] for line in lines]

    parsed = parse_rationales(make_rationales(*solutions))

    assert parsed.rationales.height == len(solutions)
    assert parsed.rationales["parse_status"].unique().to_list() == ["no_skills"]


# Errors


def test_a_missing_column_is_named() -> None:
    rationales = make_rationales(WORKED).rename({"rationale": "response"})

    with pytest.raises(InvalidInputError, match=r"missing \['rationale'\]"):
        parse_rationales(rationales)


def test_a_column_that_is_not_text_is_named() -> None:
    rationales = make_rationales(WORKED).with_columns(rationale=pl.lit(1))

    with pytest.raises(
        InvalidInputError, match="'rationale' must hold text: got Int32"
    ):
        parse_rationales(rationales)


def test_a_column_of_nulls_is_text() -> None:
    rationales = make_rationales("a").with_columns(rationale=pl.lit(None))

    parsed = parse_rationales(rationales)

    assert parsed.rationales["parse_status"].to_list() == ["empty"]


# The published parser: results documented for it, losses included


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Skill:** Knowledge: Law, Torts", ["knowledge", "law", "torts"]),
        ("- **Skill**: Knowledge: Law", ["knowledge", "law"]),
        ("- **Skills:** Knowledge: a", ["s knowledge", "a"]),
        (
            "- Skill: Knowledge: a\n- Conclusion: this skill is needed, therefore ok",
            ["is needed", "therefore ok"],
        ),
        ("Step 1\n- Skill: aa, bb\nStep 2\n- Skill: cc, dd", ["cc", "dd"]),
        ("Skill: a, and molar mass; mole ratio.", ["a", "and molar mass; mole ratio."]),
        ("Skill: comparing 1,000 and 2,000", ["comparing 1", "000 and 2", "000"]),
        ("- **Skill:** OCR", []),
        ("- **Skill:** null", ["null"]),
        ("Step 1\r\n- Skill: aa, bb\r\n\r\n- Skill: cc, dd\r\n", ["cc", "dd"]),
        ("Skill: Knowledge - Chemistry - Acids", ["knowledge", "chemistry", "acids"]),
        ("nothing of the kind", []),
    ],
)
def test_the_published_parser_is_followed_in_its_losses(
    text: str, expected: list[str]
) -> None:
    mentions = paper_parity_mentions(text)

    assert [name for name, _, _ in mentions] == expected


def test_published_spans_are_blocks_between_blank_lines() -> None:
    text = "Step 1: t\n\n- Skill: Knowledge: a\n\n- Evidence: e"

    mentions = paper_parity_mentions(text)

    assert {text[start:end] for _, start, end in mentions} == {"- Skill: Knowledge: a"}


def test_ours_reads_what_the_published_parser_reads_on_clean_text() -> None:
    clean = WORKED.replace("This skill is needed, therefore ok.", "One mole.")

    ours = [name.lower() for chain in names(parse_rationale(clean)) for name in chain]

    assert ours == [name for name, _, _ in paper_parity_mentions(clean)]
