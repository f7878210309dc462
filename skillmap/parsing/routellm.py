"""RouteLLM's wide CSVs: a prompt, and one column per model that says who was right."""

import re
from typing import NamedTuple

import polars as pl

from skillmap.errors import ParseError
from skillmap.parsing.documents import Document
from skillmap.parsing.generic_columns import field_of
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.scores import Score, read_score
from skillmap.parsing.source import (
    ParseOptions,
    Remark,
    items_frame,
    results_frame,
)
from skillmap.parsing.values import excerpt

_PROMPT = "prompt"
_RESPONSE_SUFFIX = "_response"
_VERDICTS = frozenset({"true", "false", "1", "0", "1.0", "0.0", ""})
_N_CELLS_LOOKED_AT = 1000

# The stem is as long as possible: a stem may itself quote "A. J. P. Taylor" at the
# start of a line, and the last block of four is the options.
_MULTIPLE_CHOICE = re.compile(
    r"(?P<stem>.*)\nA\. (?P<A>.*?)\nB\. (?P<B>.*?)\nC\. (?P<C>.*?)\nD\. (?P<D>.*)"
    r"\nAnswer:\s*",
    re.DOTALL,
)


class _Models(NamedTuple):
    """Verdict columns, and which of them have a column of responses."""

    names: list[str]
    with_response: list[str]
    strangers: list[str]


def _sniff(document: Document) -> Confidence:
    if not document.is_table or _PROMPT not in document.columns:
        return Confidence.NO
    models = _models(document)
    if not models.names or models.strangers:
        return Confidence.NO
    # "prompt,score,gpt-4" may be two models, or a score and some column of no use.
    known = [name for name in models.names if field_of(name)]
    if len(known) == len(models.names):
        return Confidence.NO
    return Confidence.POSSIBLE if known else Confidence.CERTAIN


def _read(document: Document, options: ParseOptions) -> Reading:
    models = _models(document)
    if _PROMPT not in document.columns or not models.names or models.strangers:
        found = sorted(document.columns)[:8]
        msg = (
            f"{document.name}: columns must be prompt, one of True/False per model and "
            f"optionally <model>_response, found {found}"
        )
        raise ParseError(msg)
    prompts = [str(prompt) for prompt in document.columns[_PROMPT]]
    split = [_question_and_choices(prompt) for prompt in prompts]
    shared: dict[str, object] = {
        "position": document.positions,
        "benchmark": options.benchmark,
        "has_replaced_characters": [p in document.replaced for p in document.positions],
    }
    items = items_frame(
        {
            **shared,
            "question": [question for question, _ in split],
            "choices": [choices for _, choices in split],
            "category": options.category,
        }
    )
    rejects: list[Remark] = []
    results = [
        _results_of(document, model, models, shared, items, rejects)
        for model in models.names
    ]
    by_record = pl.concat(results).sort("position", maintain_order=True)
    return Reading(items=items, results=by_record, rejects=rejects)


def _results_of(
    document: Document,
    model: str,
    models: _Models,
    shared: dict[str, object],
    items: pl.DataFrame,
    rejects: list[Remark],
) -> pl.DataFrame:
    cells = document.columns[model]
    scores = [_verdict(cell) for cell in cells]
    rejects.extend(
        (position, f"verdict on {model!r} is neither True nor False", excerpt(cell))
        for position, cell, score in zip(document.positions, cells, scores, strict=True)
        if score.fault
    )
    has_response = model in models.with_response
    results = results_frame(
        {
            **shared,
            "model": model,
            "score": [score.value for score in scores],
            "outcome": [score.outcome for score in scores],
            "expects_prediction": False,
            "response": document.columns[model + _RESPONSE_SUFFIX]
            if has_response
            else None,
        },
        items=items,
    )
    is_good = pl.Series([score.fault is None for score in scores], dtype=pl.Boolean)
    return results.filter(is_good)


def _models(document: Document) -> _Models:
    names: list[str] = []
    with_response: list[str] = []
    strangers: list[str] = []
    others = [name for name in document.columns if name != _PROMPT]
    for name in others:
        model = name.removesuffix(_RESPONSE_SUFFIX)
        if model != name and model in others:
            with_response.append(model)
        elif _holds_verdicts(document.columns[name]):
            names.append(name)
        else:
            strangers.append(name)
    return _Models(names, with_response, strangers)


def _holds_verdicts(cells: list[object]) -> bool:
    head = [str(cell).strip().lower() for cell in cells[:_N_CELLS_LOOKED_AT]]
    n_good = sum(cell in _VERDICTS for cell in head)
    # A few bad cells are rejected one by one; a column of other text is no model.
    return any(cell for cell in head) and 2 * n_good > len(head)


def _verdict(cell: object) -> Score:
    score = read_score(cell)
    if score.fault or score.value in (None, 0.0, 1.0):
        return score
    return Score(None, None, "is a fraction")


def _question_and_choices(prompt: str) -> tuple[str, list[str]]:
    parts = _MULTIPLE_CHOICE.fullmatch(prompt)
    if parts is None:
        return prompt, []
    return parts["stem"], [parts[letter] for letter in "ABCD"]


FORMAT = Format(
    name="routellm_csv",
    version="1",
    summary="RouteLLM results: prompt, and a True/False column named after each model",
    match="question",
    sniff=_sniff,
    read=_read,
)
