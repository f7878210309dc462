import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skillmap.concepts.encoding.frames import CONCEPTS
from skillmap.concepts.encoding.labels import (
    LABELS,
    chosen_labels,
    concept_frame,
    csv_labels,
    neuronpedia_densities,
    neuronpedia_labels,
    top_token_labels,
)
from skillmap.errors import InvalidInputError, ParseError


def explanation(index: object, description: str | None, **about: object) -> str:
    """A row as Neuronpedia exports it; made up here."""
    return json.dumps(
        {
            "id": "e1",
            "modelId": "toy",
            "layer": "3-res-1k",
            "index": index,
            "authorId": "a",
            "description": description,
            "embedding": None,
            "typeName": "oai_token-act-pair",
            "explanationModelName": "gpt-4o-mini",
            "umap_x": 0.5,
            **about,
        }
    )


def export(folder: Path, *batches: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for number, lines in enumerate(batches):
        file = folder / f"batch-{number}.jsonl.gz"
        file.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return folder


def labels(*rows: tuple[object, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=LABELS, orient="row")


def test_an_export_is_read_batch_by_batch(tmp_path: Path) -> None:
    source = export(
        tmp_path / "explanations",
        [explanation("0", "dogs"), explanation("2", "cats", id="e2")],
        [explanation("1024", "months", explanationModelName="o3", score=0.9)],
    )

    read = neuronpedia_labels(source)

    assert read.rows() == [
        (0, "dogs", "neuronpedia", "gpt-4o-mini", None, "e1"),
        (2, "cats", "neuronpedia", "gpt-4o-mini", None, "e2"),
        (1024, "months", "neuronpedia", "o3", 0.9, "e1"),
    ]


def test_one_file_need_not_be_compressed(tmp_path: Path) -> None:
    file = tmp_path / "batch-0.jsonl"
    file.write_text(explanation(7, "birds"), "utf-8")

    assert neuronpedia_labels(file)["latent_index"].to_list() == [7]


def test_features_tell_how_often_a_latent_is_active(tmp_path: Path) -> None:
    lines = [
        json.dumps({"index": "3", "frac_nonzero": 0.25, "maxActApprox": 4.0}),
        json.dumps({"index": "4"}),
    ]

    read = neuronpedia_densities(export(tmp_path / "features", lines))

    assert read.rows() == [(3, 0.25), (4, None)]


def test_what_is_no_export_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"no \*\.jsonl\.gz"):
        neuronpedia_labels(export(tmp_path / "empty"))
    with pytest.raises(ParseError, match=r"batch-0\.jsonl\.gz:2: index"):
        neuronpedia_labels(
            export(tmp_path / "bad", [explanation(0, "x"), explanation("first", "x")])
        )
    with pytest.raises(ParseError, match=r"batch-0\.jsonl\.gz"):
        neuronpedia_labels(export(tmp_path / "broken", ["{"]))


def test_a_csv_needs_two_columns_only(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("latent_index,label\n3,dogs\n5,\n", "utf-8")

    assert csv_labels(file).rows() == [
        (3, "dogs", "csv", None, None, None),
        (5, None, "csv", None, None, None),
    ]


def test_a_csv_without_them_or_with_words_as_indices_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("index,label\n3,dogs\n", "utf-8")
    with pytest.raises(ParseError, match="columns missing: latent_index"):
        csv_labels(file)

    file.write_text("latent_index,label\nthree,dogs\n", "utf-8")
    with pytest.raises(ParseError, match="three"):
        csv_labels(file)


def test_the_best_score_wins_then_the_newest_explainer_then_the_lowest_id() -> None:
    chosen = chosen_labels(
        labels(
            (1, "by score", "x", "a", 0.9, "9"),
            (1, "newer", "x", "b", 0.8, "1"),
            (2, "older", "x", "gpt-4", None, "1"),
            (2, "newer", "x", "gpt-5", None, "2"),
            (3, "second", "x", "a", None, "b"),
            (3, "first", "x", "a", None, "a"),
            (4, "unscored", "x", "z", None, "1"),
            (4, "scored", "x", "a", 0.1, "2"),
        )
    )

    assert dict(chosen.select("latent_index", "label").iter_rows()) == {
        1: "by score",
        2: "newer",
        3: "first",
        4: "scored",
    }


def test_labels_are_trimmed_and_empty_ones_are_none() -> None:
    chosen = chosen_labels(
        labels(
            (1, "  two \n words ", "x", None, None, None),
            (2, "  ", "x", None, None, None),
            (3, None, "x", None, None, None),
        )
    )

    assert chosen.rows() == [(1, "two words", "x")]


def test_a_dictionary_says_of_every_latent_whether_it_counts() -> None:
    densities = pl.DataFrame(
        {"latent_index": [0, 1, 2], "reference_density": [0.3, 0.0, 0.01]}
    )

    frame = concept_frame(
        "toy-1",
        4,
        labels((0, "a", "x", None, None, None), (1, "b", "x", None, None, None)),
        densities,
    )

    assert frame.schema == CONCEPTS
    assert frame.drop("encoder_id", "label_source").rows() == [
        (0, "a", True, None, True, 0.3),
        (1, "b", False, "dead", False, 0.0),
        (2, None, False, "no label", False, 0.01),
        (3, None, False, "no label", False, None),
    ]


def test_a_label_of_no_latent_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="first 4"):
        concept_frame("toy-1", 4, labels((4, "a", "x", None, None, None)))


def test_a_label_is_made_of_the_strongest_tokens() -> None:
    latents = np.array([5] * 6 + [6, 6, 6])
    values = np.array([9, 8, 4, 3, 2, 1, 5, 3, 1], np.float32)
    tokens = [" Paris", "Paris", "\u0120Rome", "\u2581rome", "!", " Oslo", "..."]

    read = top_token_labels(latents, values, [*tokens, "\n\n", "  "], n_positions=5)

    # The sixth entry is not looked at.
    assert read.select("latent_index", "label", "label_source").rows() == [
        (5, "paris / rome / !", "top_tokens"),
        (6, "... / line break / space", "top_tokens"),
    ]


def test_the_same_entries_in_any_order_give_the_same_labels() -> None:
    random = np.random.default_rng(2)
    latents = random.integers(0, 9, 400)
    values = random.permutation(400).astype(np.float32)
    tokens = [f"t{n}" for n in random.integers(0, 30, 400)]
    order = random.permutation(400)

    first = top_token_labels(latents, values, tokens)
    second = top_token_labels(
        latents[order], values[order], [tokens[place] for place in order]
    )

    assert first.equals(second)
