"""Write ``skillmap/starter/items/*.jsonl`` from the hand-written item files.

Run from the repository's root::

    python -m scripts.build_starter_items
"""

import json
import sys
from pathlib import Path

from scripts.item_source import Item, rationale, read_items, read_skills

BENCHMARKS = ("starter_arithmetic", "starter_knowledge", "starter_reasoning")
ANNOTATOR = "skillmap authors"
_ROOT = Path(__file__).resolve().parent.parent
SOURCES = _ROOT / "scripts" / "starter_items"
ITEMS = _ROOT / "skillmap" / "starter" / "items"


def jsonl(benchmark: str) -> str:
    """Generic-form text of one benchmark.

    Args:
        benchmark: One of ``BENCHMARKS``.

    Returns:
        One JSON object a line, in the order of the item file, keys in fixed order;
        ``choices`` is absent from free form items.
    """
    skills = read_skills(SOURCES / "skills.txt")
    items = read_items(SOURCES / f"{benchmark}.txt", skills)
    records = [_record(benchmark, item, skills) for item in items]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _record(
    benchmark: str, item: Item, skills: dict[str, str]
) -> dict[str, str | list[str]]:
    return {
        "benchmark": benchmark,
        "item_id": item.item_id,
        "question": item.question,
        **({"choices": item.choices} if item.choices else {}),
        "answer": item.answer,
        "category": item.category,
        "rationale": rationale(item, skills),
        "annotator": ANNOTATOR,
    }


def main() -> None:
    """Write one file a benchmark and say how many items it holds."""
    ITEMS.mkdir(parents=True, exist_ok=True)
    for benchmark in BENCHMARKS:
        text = jsonl(benchmark)
        (ITEMS / f"{benchmark}.jsonl").write_text(text, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{benchmark}: {text.count(chr(10))} items\n")


if __name__ == "__main__":
    main()
