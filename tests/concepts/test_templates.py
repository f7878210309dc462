from dataclasses import replace

import numpy as np

from skillmap.concepts.templates import template_concepts
from tests.concepts.worlds import one_benchmark


def test_a_latent_at_the_same_place_of_all_items_is_of_the_template() -> None:
    saliency = np.ones((40, 4))
    saliency[:5, 3] = 0
    (activations,) = one_benchmark(saliency, np.ones(40)).activations
    tokens = 10 + np.arange(40)
    positions = np.concatenate(
        [np.full(40, 2), tokens - 3, np.arange(40) % 7, np.full(35, 2)]
    )
    placed = replace(
        activations, n_tokens=tokens, position_of_max=positions.astype(np.int32)
    )

    found = template_concepts(placed)

    assert found.select("latent_index", "anchor", "position_share").rows() == [
        (0, "start", 1.0),
        (1, "end", 1.0),
    ]


def test_coverage_marks_template_latents() -> None:
    world = one_benchmark(np.array([[1.0, 0]] * 30), np.ones(30))
    (activations,) = world.activations

    templates = template_concepts(activations)

    assert templates["latent_index"].to_list() == [0]
    assert template_concepts(activations.of_items(np.arange(0))).is_empty()
