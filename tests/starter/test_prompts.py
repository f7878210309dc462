from pathlib import Path

import pytest

from scripts.record_starter_responses import BATCH_SIZE, MODES, batches, read_items
from scripts.starter_prompts import chat_about, read_prompt
from skillmap.errors import ParseError

PROMPTS = Path(__file__).parents[2] / "scripts" / "prompts"
CHOICE = {"question": "Is it {new}?", "choices": ["yes", "no"]}
NUMBER = {"question": "How many?"}


def written(folder: Path, text: str) -> Path:
    path = folder / "prompt.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_question_takes_its_place_with_its_options(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "# choice\n## user\nAsk: {question}\n## assistant\nAnswer:\n"
        "# number\n## user\n{question}\n",
    )

    prompt = read_prompt(path)

    assert chat_about(CHOICE, prompt) == [
        {"role": "user", "content": "Ask: Is it {new}?\n- yes\n- no"},
        {"role": "assistant", "content": "Answer:"},
    ]
    assert chat_about(NUMBER, prompt) == [{"role": "user", "content": "How many?"}]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# choice\n## user\n{question}\n", "'number' must hold {question} once"),
        (
            "# choice\n## user\n{question} {question}\n# number\n## user\n{question}\n",
            "'choice' must hold {question} once, has it 2 times",
        ),
    ],
)
def test_a_prompt_without_a_place_is_refused(
    tmp_path: Path, text: str, fault: str
) -> None:
    with pytest.raises(ParseError, match=fault):
        read_prompt(written(tmp_path, text))


@pytest.mark.parametrize("name", [mode.name for mode in MODES])
def test_no_item_is_given_away_as_an_example(name: str) -> None:
    text = (PROMPTS / f"{name}.txt").read_text(encoding="utf-8")

    assert [item["item_id"] for item in read_items() if item["question"] in text] == []


def test_batches_hold_each_item_once_and_one_benchmark_each() -> None:
    items = read_items()

    groups = list(batches(items))

    assert [position for group in groups for position in group] == list(
        range(len(items))
    )
    assert all(len(group) <= BATCH_SIZE for group in groups)
    for group in groups:
        assert len({items[position]["benchmark"] for position in group}) == 1
