"""CPU seconds of answer extraction, beside one that uses the known expressions.

Run it on one thread, or CPU seconds mean little:

    OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python -m benchmarks.extraction

Texts are drawn from words, with the answer stated as models state it. The baseline
is the three-step reader that benchmark suites use, with Python's expressions.
"""

import argparse
import re
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import polars as pl

from skillmap.extraction.outcomes import extract
from skillmap.extraction.sensitivity import extraction_order, extraction_sensitivity

Result = TypeVar("Result")

# Two words in sixty announce an answer, which is several times what real texts have.
WORDS = (
    *("the", "value", "of", "energy", "is", "then", "we", "find", "that", "which"),
    *("would", "be", "to", "because", "rate", "12.5", "mass", "gives", "so", "first"),
    *("and", "this", "with", "water", "law", "court", "has", "for", "from", "when"),
    *("Total", "A", "I", "in", "on", "by", "if", "both", "not", "than", "more"),
    *("less", "(a)", "$x = 2$", "step", "2.", "sum", "over", "chart", "price", "it"),
    *("option", "closest", "answer", "as", "an", "its", "no", "may", "can", "cell"),
)
ENDINGS = (
    "The answer is ({}).",
    "Therefore, the correct answer is:\n\n\\[\n\\boxed{{{}}}\n\\]",
    "**Answer: {}**",
    "So option {} is correct.",
    "The answer is not among the options.",
    "and then we have to",
)
SHARES = (0.82, 0.05, 0.04, 0.02, 0.03, 0.04)
FIRST = re.compile(r"answer is \(?([A-J])\)?")
SECOND = re.compile(r".*[aA]nswer:\s*([A-J])")
THIRD = re.compile(r"\b[A-J]\b(?!.*\b[A-J]\b)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=12_032)
    parser.add_argument("--characters", type=int, default=1_200)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    random = np.random.default_rng(options.seed)
    lettered = drawn(options.responses, options.characters, random)
    free = lettered.with_columns(
        choices=pl.lit([], dtype=pl.List(pl.String)), answer=pl.lit("12.5")
    )
    size = lettered["response"].str.len_bytes().sum() / 1e6
    extract(lettered.head(100))
    print(f"{options.responses:,} responses, {size:.1f} MB")
    read = report("letters", lambda: extract(lettered))
    report("numbers", lambda: extract(free))
    report("known expressions", lambda: three_steps(lettered["response"].to_list()))
    report(
        "the second expression, 20,000 characters without a match",
        lambda: SECOND.search("x" * 20_000),
    )
    report(
        "ours, 1,000,000 characters without a match",
        lambda: extract(lettered.head(1).with_columns(response=pl.lit("x" * 10**6))),
    )
    scores = repeated(read, options.models, random)
    report(f"sensitivity, {options.models} models", lambda: sensitivity(*scores))


def drawn(n: int, length: int, random: np.random.Generator) -> pl.DataFrame:
    words = random.choice(WORDS, (n, length // 6))
    endings = random.choice(len(ENDINGS), n, p=SHARES)
    letters = random.choice(list("ABCDEFGHIJ"), n)
    said = [
        f"{' '.join(row)}. {ENDINGS[ending].format(letter)}"
        for row, ending, letter in zip(words, endings, letters, strict=True)
    ]
    choices = [f"{place} units" for place in range(10)]
    return pl.DataFrame(
        {
            "response": said,
            "choices": [choices] * n,
            "answer": random.choice(list("ABCDEFGHIJ"), n),
            "finish_reason": pl.Series([None] * n, dtype=pl.String),
        }
    )


def three_steps(said: list[str]) -> list[str | None]:
    found: list[str | None] = []
    for text in said:
        match = FIRST.search(text) or SECOND.search(text)
        last = THIRD.search(text)
        found.append(match[1] if match else last[0] if last else None)
    return found


def repeated(
    read: pl.DataFrame, n_models: int, random: np.random.Generator
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The same readings for many models, some of them changed in each."""
    frames = []
    for _ in range(2):
        parts = [
            pl.DataFrame(
                {
                    "benchmark_id": "drawn",
                    "model_id": f"model {model:02}",
                    "item_id": range(read.height),
                    "prediction": read["prediction"],
                    "score": random.integers(0, 2, read.height).astype(float),
                }
            )
            for model in range(n_models)
        ]
        frames.append(pl.concat(parts))
    return frames[0], frames[1]


def sensitivity(source: pl.DataFrame, reextracted: pl.DataFrame) -> int:
    cells = extraction_sensitivity(source, reextracted)
    return cells.height + extraction_order(source, reextracted).height


def report(name: str, work: Callable[[], Result]) -> Result:
    start = time.process_time()
    result = work()
    print(f"{name}: {time.process_time() - start:.2f} CPU-s")
    return result


if __name__ == "__main__":
    main()
