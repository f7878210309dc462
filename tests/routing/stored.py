"""A home with two models whose stored responses tell who is right."""

from pathlib import Path

from skillmap_dagster.runs import Platform
from tests.pipeline.sources import bring_in, new_platform, write_records

MODELS = ("ada", "bob")
SKILLS = ("algebra", "botany")
N_ITEMS = 300


def routed_home(folder: Path) -> Platform:
    """Two models, each right on its own skill, which only ada's response names."""
    for place, model in enumerate(MODELS):
        write_records(
            folder / "sources" / f"quiz-{model}.jsonl",
            [
                {
                    "benchmark": "quiz",
                    "item_id": str(number),
                    "question": f"Question {number}?",
                    "answer": str(number),
                    "model": model,
                    "response": f"This is {SKILLS[number % 2]}, so {number}."
                    if model == "ada"
                    else f"It is {number}.",
                    # ada is right a little more often, so that it is asked first.
                    "score": int(
                        number % 2 == place or (model, number % 10) == ("ada", 1)
                    ),
                }
                for number in range(N_ITEMS)
            ],
        )
    found = new_platform(folder / "home")
    assert bring_in(found, folder / "sources").failures == []
    return found
