import numpy as np
import polars as pl
import pytest

from skillmap.concepts.activations import benchmark_activations, scores_on
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import one_benchmark, random_world

WORLD = random_world(n_items=30, n_latents=8, cluster_size=2)


def test_cells_come_back_as_they_went_in() -> None:
    (activations,) = WORLD.activations

    dense = np.zeros((8, 30))
    dense[activations.latent, activations.item] = activations.mean

    order = [WORLD.item_ids("b").index(item) for item in activations.items]
    assert (dense == WORLD.saliency["b"][order].T).all()
    assert (np.diff(activations.clusters) >= 0).all()


def test_the_order_of_the_rows_does_not_matter() -> None:
    shuffled = WORLD.item_concepts.sample(fraction=1, shuffle=True, seed=3)

    (found,) = benchmark_activations(
        shuffled, WORLD.item_encodings, WORLD.item_clusters, n_latents=8
    )

    (expected,) = WORLD.activations
    assert (found.item == expected.item).all()
    assert (found.mean == expected.mean).all()
    assert (found.position_of_max == expected.position_of_max).all()


def test_items_that_were_not_encoded_are_no_items() -> None:
    world = one_benchmark(np.array([[1.0], [0], [2]]), np.ones(3))
    statuses = pl.Series("status", ["encoded", "empty", "encoded"])

    (found,) = benchmark_activations(
        world.item_concepts, world.item_encodings.with_columns(statuses), n_latents=1
    )

    assert found.items.to_list() == ["b:00000", "b:00002"]
    assert found.n_active_items.tolist() == [2]


def test_an_item_without_activity_still_counts() -> None:
    world = one_benchmark(np.array([[1.0], [0]]), np.ones(2))

    assert world.activations[0].n_items == 2


def test_parts_hold_the_chosen_latents_and_items() -> None:
    (whole,) = WORLD.activations

    part = whole.part(np.array([5, 2])).of_items(np.array([1, 4, 20]))

    dense = np.zeros((2, 3))
    dense[part.latent, part.item] = part.mean
    full = np.zeros((8, 30))
    full[whole.latent, whole.item] = whole.mean
    assert (dense == full[[5, 2]][:, [1, 4, 20]]).all()
    assert part.items.to_list() == whole.items.gather([1, 4, 20]).to_list()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.col("mean_activation") * 0, "0 < mean_activation"),
        (pl.col("latent_index") + 8, "latent_index < 8"),
        (pl.col("item_id") + "?", "the item was encoded"),
    ],
)
def test_cells_out_of_place_are_refused(change: pl.Expr, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        list(
            benchmark_activations(
                WORLD.item_concepts.with_columns(change),
                WORLD.item_encodings,
                n_latents=8,
            )
        )


def test_a_cell_stands_once() -> None:
    twice = pl.concat([WORLD.item_concepts, WORLD.item_concepts.head(1)])

    with pytest.raises(InvalidInputError, match=r"1 of \d+ cells stand twice"):
        list(benchmark_activations(twice, WORLD.item_encodings, n_latents=8))


def test_an_item_is_in_one_cluster() -> None:
    clusters = pl.concat([WORLD.item_clusters, WORLD.item_clusters.head(1)])

    with pytest.raises(InvalidInputError, match="in several clusters, first 'b:00000'"):
        list(
            benchmark_activations(
                WORLD.item_concepts, WORLD.item_encodings, clusters, n_latents=8
            )
        )


def test_a_benchmark_that_was_not_encoded_has_no_cells() -> None:
    with pytest.raises(InvalidInputError, match="no item was encoded of 'e' and 'b'"):
        list(
            benchmark_activations(
                WORLD.item_concepts, WORLD.item_encodings.clear(), n_latents=8
            )
        )


def test_scores_stand_beside_their_items() -> None:
    (activations,) = WORLD.activations

    scores = scores_on(activations, WORLD.item_scores)

    order = [WORLD.item_ids("b").index(item) for item in activations.items]
    assert scores.models.to_list() == ["m0", "m1", "m2"]
    assert (scores.values == WORLD.scores["b"][order]).all()


def test_scores_are_fractions_and_stand_once() -> None:
    (activations,) = WORLD.activations
    scores = WORLD.item_scores

    with pytest.raises(InvalidInputError, match=r"outside \[0, 1\], first 2"):
        scores_on(activations, scores.with_columns(score=pl.lit(2.0)))
    with pytest.raises(InvalidInputError, match="several scores on one item"):
        scores_on(activations, pl.concat([scores, scores.head(1)]))
