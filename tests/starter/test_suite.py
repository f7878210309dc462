import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scripts.build_starter_items import BENCHMARKS, jsonl
from scripts.stated_answer import reading
from skillmap.starter import folder

LETTERS = "ABCDE"
MODES = ("direct", "few-shot", "step-by-step")
STEP = re.compile(
    r"(?P<number>\d)\. \*\*Step (?P=number): [^*\n]+\*\*\n"
    r" {3}- \*\*Skill:\*\* (?P<skill>(?:Knowledge|Perception|Reasoning): [^\n]+)\n"
    r" {3}- \*\*Evidence:\*\* [^\n]+\n"
    r" {3}- \*\*Conclusion:\*\* (?P<conclusion>[^\n]+)"
)
EQUATION = re.compile(r"((?:[\d.()]+ [-+\u00d7\u00f7] )+[\d.()]+) = (-?[\d.]*\d)")


def lines_of(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def items(benchmark: str | None = None) -> list[dict[str, Any]]:
    names = [benchmark] if benchmark else BENCHMARKS
    return [
        item for name in names for item in lines_of(folder() / f"items/{name}.jsonl")
    ]


def chosen_items() -> list[dict[str, Any]]:
    return [item for item in items() if "choices" in item]


def results(mode: str) -> list[dict[str, Any]]:
    name = f"SmolLM2-135M-Instruct-{mode}.jsonl"
    return lines_of(folder() / "results" / name)


def key(record: dict[str, Any]) -> tuple[str, str]:
    return record["benchmark"], record["item_id"]


def steps(item: dict[str, Any]) -> list[re.Match[str]]:
    blocks = item["rationale"].split("\n\n")[:-1]
    matches = [STEP.fullmatch(block) for block in blocks]
    assert all(matches), item["item_id"]
    return [match for match in matches if match]


def exact_answers() -> dict[str, Fraction | int]:
    path = Path(__file__).parent / "answers.py"
    spec = importlib.util.spec_from_file_location("starter_answers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ANSWERS


def value(expression: str) -> Fraction:
    """Exact value of a printed calculation, by the usual order of operations."""
    tokens = re.findall(r"\d+(?:\.\d+)?|[-+()\u00d7\u00f7]", expression)

    def atom() -> Fraction:
        first = tokens.pop(0)
        if first != "(":
            return Fraction(first)
        inside = total()
        assert tokens.pop(0) == ")"
        return inside

    def product() -> Fraction:
        result = atom()
        while tokens and tokens[0] in "\u00d7\u00f7":
            result = result * atom() if tokens.pop(0) == "\u00d7" else result / atom()
        return result

    def total() -> Fraction:
        result = product()
        while tokens and tokens[0] in "+-":
            result = result + product() if tokens.pop(0) == "+" else result - product()
        return result

    return total()


# The items


def test_each_benchmark_is_large_enough() -> None:
    sizes = {benchmark: len(items(benchmark)) for benchmark in BENCHMARKS}

    assert min(sizes.values()) >= 45
    assert sum(sizes.values()) >= 150


def test_keys_come_in_one_order() -> None:
    for item in items():
        expected = ["benchmark", "item_id", "question", "choices", "answer", "category"]
        expected += ["rationale", "annotator"]
        if "choices" not in item:
            expected.remove("choices")

        assert list(item) == expected


def test_item_ids_are_unique_across_benchmarks() -> None:
    ids = [item["item_id"] for item in items()]

    assert len(set(ids)) == len(ids)


def test_no_question_is_asked_twice() -> None:
    questions = [" ".join(item["question"].lower().split()) for item in items()]

    assert [text for text, n in Counter(questions).items() if n > 1] == []


def test_items_are_not_one_template_with_new_numbers() -> None:
    shapes = Counter(re.sub(r"\d+", "0", item["question"]) for item in items())

    assert [shape for shape, n in shapes.items() if n > 1] == []


def test_only_arithmetic_is_free_form() -> None:
    free_form = {item["benchmark"] for item in items() if "choices" not in item}

    assert free_form == {"starter_arithmetic"}
    assert all("choices" not in item for item in items("starter_arithmetic"))


def test_options_are_three_to_five_different_texts() -> None:
    for item in chosen_items():
        options = {" ".join(choice.lower().split()) for choice in item["choices"]}

        assert 3 <= len(options) == len(item["choices"]) <= 5, item["item_id"]


def test_the_gold_letter_is_within_the_options() -> None:
    for item in chosen_items():
        assert item["answer"] in LETTERS[: len(item["choices"])], item["item_id"]


@pytest.mark.parametrize("benchmark", ["starter_knowledge", "starter_reasoning"])
@pytest.mark.parametrize("n_options", [3, 4, 5])
def test_gold_positions_are_balanced(benchmark: str, n_options: int) -> None:
    golds = Counter(
        item["answer"] for item in items(benchmark) if len(item["choices"]) == n_options
    )

    counts = [golds[letter] for letter in LETTERS[:n_options]]

    assert max(counts) - min(counts) <= 4


def test_arithmetic_answers_equal_a_second_calculation() -> None:
    golds = {
        item["item_id"]: Fraction(item["answer"])
        for item in items("starter_arithmetic")
    }

    assert golds == exact_answers()


def test_code_items_print_their_gold_option() -> None:
    tried = 0
    for item in items("starter_reasoning"):
        if item["category"] != "code reading":
            continue
        _, code = item["question"].split("\n", 1)

        printed = subprocess.run(
            [sys.executable, "-I", "-c", code],
            capture_output=True,
            check=True,
            text=True,
            encoding="utf-8",
        ).stdout

        assert printed.strip() == item["choices"][LETTERS.index(item["answer"])]
        tried += 1
    assert tried == 10


# The rationales


def test_every_rationale_has_two_to_four_numbered_steps() -> None:
    for item in items():
        numbers = [int(step["number"]) for step in steps(item)]

        assert numbers == list(range(1, len(numbers) + 1)), item["item_id"]
        assert 2 <= len(numbers) <= 4, item["item_id"]


def test_every_step_names_a_skill_from_general_to_specific() -> None:
    for item in items():
        for step in steps(item):
            names = step["skill"].split(": ", 1)[1].split(", ")

            assert len(names) >= 3, item["item_id"]
            assert len(set(names)) == len(names), item["item_id"]


def test_every_rationale_ends_with_the_gold_answer() -> None:
    for item in items():
        last_line = item["rationale"].rsplit("\n\n", 1)[-1]

        assert last_line == f"ANSWER: {item['answer']}", item["item_id"]


def test_equations_in_conclusions_hold() -> None:
    equations = [
        (item["item_id"], left, right)
        for item in items()
        for step in steps(item)
        for left, right in EQUATION.findall(step["conclusion"])
    ]

    wrong = [one for one in equations if value(one[1]) != Fraction(one[2])]

    assert wrong == []
    assert len(equations) > 150


def test_arithmetic_rationales_reach_their_answer() -> None:
    for item in items("starter_arithmetic"):
        numbers = re.findall(r"\d+(?:\.\d+)?", steps(item)[-1]["conclusion"])

        assert Fraction(item["answer"]) in map(Fraction, numbers), item["item_id"]


def test_skills_recur_within_and_across_benchmarks() -> None:
    found: dict[str, set[tuple[str, str]]] = {}
    for item in items():
        for step in steps(item):
            found.setdefault(step["skill"].rsplit(", ", 1)[-1], set()).add(key(item))
    spread = {name: {benchmark for benchmark, _ in at} for name, at in found.items()}

    assert 40 <= len(found) <= 70
    assert sum(len(at) >= 10 for at in found.values()) >= 12
    assert sum(len(benchmarks) == 3 for benchmarks in spread.values()) >= 8


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_packaged_items_are_those_of_the_source_files(benchmark: str) -> None:
    packaged = (folder() / f"items/{benchmark}.jsonl").read_text(encoding="utf-8")

    assert packaged == jsonl(benchmark)


# The results


def test_there_is_one_results_file_for_each_mode() -> None:
    names = sorted(path.stem for path in (folder() / "results").iterdir())

    assert names == [f"SmolLM2-135M-Instruct-{mode}" for mode in MODES]


@pytest.mark.parametrize("mode", MODES)
def test_every_item_is_answered_once(mode: str) -> None:
    assert [key(row) for row in results(mode)] == [key(item) for item in items()]


@pytest.mark.parametrize("mode", MODES)
def test_results_name_their_model_and_mode(mode: str) -> None:
    rows = results(mode)

    assert {row["model"] for row in rows} == {f"SmolLM2-135M-Instruct-{mode}"}
    assert {row["prompt_mode"] for row in rows} == {mode.replace("-", "_")}


@pytest.mark.parametrize("mode", MODES)
def test_scores_follow_from_prediction_and_gold(mode: str) -> None:
    golds = {key(item): item for item in items()}

    for row in results(mode):
        gold = golds[key(row)]
        if row["prediction"] is None:
            assert row["score"] is None
            assert row["outcome"] in {"unparsed", "empty", "truncated"}
        elif "choices" in gold:
            assert row["score"] == int(row["prediction"] == gold["answer"])
            assert row["prediction"] in LETTERS[: len(gold["choices"])]
        else:
            exact = exact_answers()[row["item_id"]]
            assert row["score"] == int(Fraction(row["prediction"]) == exact)


@pytest.mark.parametrize("mode", MODES)
def test_outcomes_agree_with_scores_and_finish_reasons(mode: str) -> None:
    for row in results(mode):
        assert (row["outcome"] == "correct") == (row["score"] == 1)
        assert (row["outcome"] == "wrong") == (row["score"] == 0)
        assert row["finish_reason"] in {"stop", "length"}
        if row["outcome"] == "truncated":
            assert row["finish_reason"] == "length"


@pytest.mark.parametrize("mode", MODES)
def test_stored_outcomes_are_those_of_todays_reader(mode: str) -> None:
    golds = {key(item): item for item in items()}

    for row in results(mode):
        gold = golds[key(row)]

        read = reading(
            row["response"],
            answer=gold["answer"],
            choices=gold.get("choices"),
            finish_reason=row["finish_reason"],
        )

        assert read == (row["outcome"], row["prediction"], row["score"])


@pytest.mark.parametrize(
    ("mode", "limit"), [("direct", 16), ("few-shot", 24), ("step-by-step", 160)]
)
def test_only_cut_off_responses_have_the_full_length(mode: str, limit: int) -> None:
    for row in results(mode):
        is_full = row["n_output_tokens"] == limit

        assert row["n_output_tokens"] <= limit
        assert is_full == (row["finish_reason"] == "length")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_readme_states_the_recorded_figures(benchmark: str, mode: str) -> None:
    rows = [row for row in results(mode) if row["benchmark"] == benchmark]
    n = Counter(row["outcome"] for row in rows)
    counts = [len(rows), n["correct"], n["wrong"], n["unparsed"], n["empty"]]
    accuracies = [n["correct"] / len(rows), n["correct"] / (n["correct"] + n["wrong"])]
    cells = [benchmark, mode, *map(str, [*counts, n["truncated"]])]
    cells += [f"{accuracy:.3f}" for accuracy in accuracies]

    readme = (folder() / "README.md").read_text(encoding="utf-8")

    assert f"| {' | '.join(cells)} |" in readme
