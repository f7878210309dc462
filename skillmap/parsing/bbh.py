"""Task files of BIG-Bench Hard: items only, each file its own task."""

import re

from skillmap.errors import ParseError
from skillmap.parsing.documents import Document
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.source import ParseOptions, Remark, items_frame
from skillmap.parsing.values import excerpt, is_array, is_object

_OPTIONS = re.compile(r"\nOptions:((?:\n\([A-Z]\) [^\n]*)+)\s*\Z")
_OPTION = re.compile(r"\n\([A-Z]\) ([^\n]*)")
_LETTER_TARGET = re.compile(r"\(([A-Z])\)")


def _sniff(document: Document) -> Confidence:
    if document.shape != "JSON object":
        return Confidence.NO
    examples = document.first_object().get("examples")
    fits = is_array(examples) and any(
        is_object(example) and example.keys() >= {"input", "target"}
        for example in examples[:100]
    )
    return Confidence.CERTAIN if fits else Confidence.NO


def _read(document: Document, options: ParseOptions) -> Reading:
    task = document.first_object()
    examples = task.get("examples")
    if not is_array(examples):
        msg = (
            f"{document.name}: a BIG-Bench Hard task needs a list 'examples', "
            f"found the keys {sorted(task)[:8]}"
        )
        raise ParseError(msg)
    rejects: list[Remark] = []
    good: list[tuple[int, str, str]] = []
    for position, example in enumerate(examples):
        fields = example if is_object(example) else {}
        question, target = fields.get("input"), fields.get("target")
        if isinstance(question, str) and isinstance(target, str):
            good.append((position, question, target))
        else:
            reason = "example is not an object with the texts input and target"
            rejects.append((position, reason, excerpt(example)))
    items = items_frame(
        {
            "position": [position for position, _, _ in good],
            "benchmark": options.benchmark,
            "question": [question for _, question, _ in good],
            "choices": [_choices(question) for _, question, _ in good],
            "answer": [_answer(target) for _, _, target in good],
            "category": options.category or options.task,
            # The decoder sees the file as one record, so it cannot say which example.
            "has_replaced_characters": [
                bool(document.replaced) and "\ufffd" in question + target
                for _, question, target in good
            ],
        }
    )
    canary = task.get("canary")
    notes = (canary,) if isinstance(canary, str) else ()
    return Reading(items=items, rejects=rejects, notes=notes, n_records=len(examples))


def _choices(question: str) -> list[str]:
    block = _OPTIONS.search(question)
    return _OPTION.findall(block.group(1)) if block else []


def _answer(target: str) -> str:
    letter = _LETTER_TARGET.fullmatch(target.strip())
    return letter.group(1) if letter else target


FORMAT = Format(
    name="bbh_task",
    version="1",
    summary="BIG-Bench Hard task: an object with canary and examples of input, target",
    match="own",
    sniff=_sniff,
    read=_read,
)
