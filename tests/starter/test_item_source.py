from pathlib import Path

import pytest

from scripts.item_source import rationale, read_items, read_skills
from skillmap.errors import ParseError

SKILLS = "add = Reasoning: arithmetic, whole numbers, addition\n"
ITEM = """@ sum-01 | sums
? What is 2 + 3?
  Think of apples.
- 4
+ 5
- 6
> add | Count on from 2 | "2 + 3" | 2 + 3 = 5.
> add | Check | #1 | 5 is offered.
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "skills.txt").write_text(SKILLS, encoding="utf-8")
    return tmp_path


def parsed(place: Path, text: str) -> str:
    skills = read_skills(place / "skills.txt")
    (place / "items.txt").write_text(text, encoding="utf-8")
    (item,) = read_items(place / "items.txt", skills)
    return f"{item.question}\n{item.choices}\n{rationale(item, skills)}"


def test_an_item_is_read_with_its_rationale(place: Path) -> None:
    assert parsed(place, ITEM) == (
        "What is 2 + 3?\nThink of apples.\n['4', '5', '6']\n"
        "1. **Step 1: Count on from 2**\n"
        "   - **Skill:** Reasoning: arithmetic, whole numbers, addition\n"
        '   - **Evidence:** "2 + 3"\n'
        "   - **Conclusion:** 2 + 3 = 5.\n\n"
        "2. **Step 2: Check**\n"
        "   - **Skill:** Reasoning: arithmetic, whole numbers, addition\n"
        "   - **Evidence:** The finding of step 1\n"
        "   - **Conclusion:** 5 is offered.\n\n"
        "ANSWER: B"
    )


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"2 + 3" |', '"3 + 3" |', "quotes what the item does not say: '3 [+] 3'"),
        ("| #1 |", "| #2 |", "rests on step 2"),
        ("> add | Check", "> adding | Check", "unknown skill 'adding'"),
        ("- 4", "+ 4", "needs one right option, has 2"),
        ("> add | Check | #1 | 5 is offered.\n", "", "needs 2 to 4 steps, has 1"),
        ("@ sum-01 | sums", "@ sum-01", "line 1 has no known form"),
        ("- 6", "* 6", "line 6 has no known form"),
        ("? What is 2 + 3?\n  Think of apples.\n", "", "has no question"),
        ("- 6\n", "- 6\n= 5\n", "either options or an answer"),
    ],
)
def test_a_faulty_item_is_refused(place: Path, old: str, new: str, fault: str) -> None:
    with pytest.raises(ParseError, match=fault):
        parsed(place, ITEM.replace(old, new, 1))


def test_a_skill_with_two_names_is_refused(place: Path) -> None:
    path = place / "skills.txt"
    path.write_text("add = Reasoning: arithmetic, addition\n", encoding="utf-8")

    with pytest.raises(ParseError, match="line 1"):
        read_skills(path)
