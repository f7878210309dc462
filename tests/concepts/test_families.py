import numpy as np
import polars as pl
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from skillmap.concepts.families import (
    correlation_families,
    decoder_families,
    family_item_concepts,
)
from skillmap.errors import InvalidInputError
from tests.concepts.worlds import one_benchmark, random_world

# Rows 0 and 2 point one way, 1 and 3 another, 4 alone; lengths differ.
DECODER = np.array(
    [[2, 0.1, 0], [0, 1, 0], [3, 0, 0], [0, 2, 0.1], [0, 0, 1]], dtype=np.float32
)


def test_decoder_rows_that_point_one_way_are_a_family() -> None:
    found = decoder_families("e", DECODER)

    assert found["family_index"].to_list() == [0, 1, 0, 1, 4]
    assert found["n_members"].to_list() == [2, 2, 2, 2, 1]
    assert found["decoder_norm"].to_list() == pytest.approx(
        np.linalg.norm(DECODER, axis=1)
    )


def test_a_latent_without_a_direction_cannot_be_grouped() -> None:
    decoder = DECODER.copy()
    decoder[1] = 0

    assert decoder_families("e", decoder)["latent_index"].to_list() == [0, 2, 3, 4]
    with pytest.raises(InvalidInputError, match=r"1 of 2 rows .* first latent 1"):
        decoder_families("e", decoder, np.array([0, 1]))


def test_latents_that_rise_and_fall_together_are_a_family() -> None:
    random = np.random.default_rng(0)
    base = random.gamma(1.0, 1.0, (60, 3))
    saliency = np.column_stack([base, 2 * base[:, 1] + 0.1 * base[:, 0], np.ones(60)])
    (activations,) = one_benchmark(saliency, np.ones(60)).activations

    found = correlation_families(activations, np.arange(5))

    # The last does not vary.
    assert found.select("latent_index", "family_index").rows() == [
        (0, 0),
        (1, 1),
        (2, 2),
        (3, 1),
    ]


def test_many_items_are_grouped_as_a_full_product_would() -> None:
    random = np.random.default_rng(1)
    base = random.gamma(1.0, 1.0, (2_100, 20))
    mixed = base[:, np.arange(20) % 8] + 0.8 * random.random(20) * base
    (activations,) = one_benchmark(mixed, np.ones(2_100)).activations

    found = correlation_families(activations, np.arange(20))

    distance = 1 - np.corrcoef(mixed.T)
    tree = linkage(squareform(distance, checks=False), method="average")
    labels = fcluster(tree, 0.3, criterion="distance")
    ours = found["family_index"].to_numpy()
    assert 3 < np.unique(ours).size < 20
    assert ((labels[:, None] == labels) == (ours[:, None] == ours)).all()


def test_a_familys_activation_is_the_sum_weighted_by_norms() -> None:
    world = random_world(n_items=20, n_latents=5, density=0.6)
    families = decoder_families("e", DECODER)
    norms = np.linalg.norm(DECODER, axis=1)

    found = family_item_concepts(world.item_concepts, families)

    weighted = world.saliency["b"] * norms
    sums = {0: weighted[:, [0, 2]], 1: weighted[:, [1, 3]], 4: weighted[:, [4]]}
    for latent, members in sums.items():
        rows = found.filter(latent_index=latent)
        active = members.sum(axis=1) > 0
        assert rows["mean_activation"].to_numpy() == pytest.approx(
            members.sum(axis=1)[active]
        )
    assert found.columns == world.item_concepts.columns


def test_the_position_is_that_of_the_largest_member() -> None:
    saliency = np.array([[1.0, 0, 5, 0, 0]])
    world = one_benchmark(saliency, np.ones(1))

    found = family_item_concepts(world.item_concepts, decoder_families("e", DECODER))

    assert found["position_of_max"].to_list() == [2]  # that of latent 2


def test_no_latents_are_no_families() -> None:
    found = decoder_families("e", DECODER, np.empty(0, np.int64))

    assert found.is_empty()
    assert found.schema["family_index"] == pl.Int64()
