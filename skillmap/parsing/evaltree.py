"""EvalTree's bare arrays: 0/1 results and skill phrases, by place in a data set."""

from skillmap.errors import ParseError
from skillmap.parsing.documents import Document
from skillmap.parsing.importer import Confidence, Format, Reading
from skillmap.parsing.source import (
    SKILLS_SCHEMA,
    ParseOptions,
    Remark,
    results_frame,
    typed_frame,
)
from skillmap.parsing.values import excerpt, is_nan


def _sniff_results(document: Document) -> Confidence:
    head = document.head()
    if document.shape != "JSON array" or all(value is None for value in head):
        return Confidence.NO
    fits = all(
        value is None or isinstance(value, int | float) or _is_pair(value)
        for value in head
    )
    return Confidence.CERTAIN if fits else Confidence.NO


def _sniff_skills(document: Document) -> Confidence:
    head = document.head()
    n_texts = sum(isinstance(value, str) for value in head)
    fits = document.shape == "JSON array" and n_texts > 0
    fits = fits and all(value is None or isinstance(value, str) for value in head)
    return Confidence.CERTAIN if fits else Confidence.NO


def _read_results(document: Document, options: ParseOptions) -> Reading:
    if any(_is_pair(value) for value in document.records):
        msg = (
            f"{document.name}: pairwise results ([[1|2, 1|2], ...], one model against "
            "another) are not supported: they hold no score of a single model. "
            "Import the 0/1 results of each model"
        )
        raise ParseError(msg)
    rejects: list[Remark] = []
    positions: list[int] = []
    scores: list[float | None] = []
    for position, value in zip(document.positions, document.values(), strict=True):
        if value is None or is_nan(value):
            positions.append(position)
            scores.append(None)
        elif isinstance(value, int | float) and value in (0, 1):
            positions.append(position)
            scores.append(float(value))
        else:
            reason = "result is neither 0 nor 1 nor null"
            rejects.append((position, reason, excerpt(value)))
    results = results_frame(
        {
            "position": positions,
            "benchmark": options.benchmark,
            "model": options.model,
            "score": scores,
            "outcome": ["unscored" if score is None else None for score in scores],
            "expects_prediction": False,
        }
    )
    return Reading(results=results, rejects=rejects)


def _read_skills(document: Document, options: ParseOptions) -> Reading:
    rejects: list[Remark] = []
    positions: list[int] = []
    phrases: list[str] = []
    for position, value in zip(document.positions, document.values(), strict=True):
        if isinstance(value, str) and value.strip():
            positions.append(position)
            phrases.append(value)
        else:
            reason = "skill phrase is blank or not text"
            rejects.append((position, reason, excerpt(value)))
    skills = typed_frame(
        SKILLS_SCHEMA,
        {
            "position": positions,
            "benchmark": options.benchmark,
            "annotator": options.annotator,
            "level_index": 0,
            "phrase": phrases,
        },
    )
    return Reading(skills=skills, rejects=rejects)


def _is_pair(value: object) -> bool:
    match value:
        case [1 | 2, 1 | 2]:
            return True
        case _:
            return False


RESULTS = Format(
    name="evaltree_results",
    version="1",
    summary="EvalTree results: a JSON array of 0 and 1, in the data set's order",
    match="position",
    sniff=_sniff_results,
    read=_read_results,
)

SKILLS = Format(
    name="evaltree_skills",
    version="1",
    summary="EvalTree capabilities: a JSON array of skill phrases, in the same order",
    match="position",
    sniff=_sniff_skills,
    read=_read_skills,
)
