"""Frames of activations and scores from tables of numbers."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.concepts.activations import (
    Activations,
    Scores,
    benchmark_activations,
    scores_on,
)
from skillmap.concepts.coverage import CoverageOptions, concept_coverage
from skillmap.concepts.performance import PerformanceOptions, concept_performance
from skillmap.concepts.permutation import monte_carlo_p
from skillmap.concepts.sums import (
    benchmark_score_sums,
    benchmark_sums,
    concept_score_sums,
    concept_sums,
)

Table = NDArray[np.float64]


@dataclass(frozen=True)
class ConceptWorld:
    """One encoder on some benchmarks: all that the metrics read.

    Saliencies have shape ``(n_items, n_latents)`` and scores ``(n_items, n_models)``,
    NaN where a model has none; cluster codes are one an item.
    """

    saliency: dict[str, Table]
    scores: dict[str, Table]
    clusters: dict[str, list[int]] = field(default_factory=dict)
    maximum: dict[str, Table] = field(default_factory=dict)
    n_kept_tokens: int = 10
    encoder_id: str = "e"

    @property
    def n_latents(self) -> int:
        return next(iter(self.saliency.values())).shape[1]

    def item_ids(self, benchmark: str) -> list[str]:
        return [f"{benchmark}:{i:05}" for i in range(len(self.saliency[benchmark]))]

    @property
    def item_concepts(self) -> pl.DataFrame:
        parts = []
        for benchmark, saliency in self.saliency.items():
            item, latent = np.nonzero(saliency)
            ids = pl.Series(self.item_ids(benchmark), dtype=pl.String)
            largest = self.maximum.get(benchmark, 2 * saliency)
            parts.append(
                pl.DataFrame(
                    {
                        "item_id": ids.gather(item),
                        "latent_index": latent,
                        "mean_activation": saliency[item, latent],
                        "max_activation": largest[item, latent],
                    }
                ).select(
                    pl.lit(self.encoder_id).alias("encoder_id"),
                    pl.lit(benchmark).alias("benchmark_id"),
                    pl.all(),
                    n_active_tokens=pl.lit(2, pl.Int64),
                    position_of_max=pl.col("latent_index") % 3,
                )
            )
        return pl.concat(parts)

    @property
    def item_encodings(self) -> pl.DataFrame:
        return pl.concat(
            pl.DataFrame(
                {"item_id": self.item_ids(benchmark)}, schema={"item_id": pl.String}
            ).select(
                encoder_id=pl.lit(self.encoder_id),
                benchmark_id=pl.lit(benchmark),
                item_id="item_id",
                status=pl.lit("encoded"),
                n_kept_tokens=pl.lit(self.n_kept_tokens, pl.Int64),
            )
            for benchmark in self.saliency
        )

    @property
    def item_clusters(self) -> pl.DataFrame:
        return pl.concat(
            pl.DataFrame(
                {
                    "item_id": self.item_ids(benchmark),
                    "cluster_id": [
                        f"{benchmark}:c{c:05}"
                        for c in self.clusters.get(benchmark, range(len(saliency)))
                    ],
                },
                schema={"item_id": pl.String, "cluster_id": pl.String},
            )
            for benchmark, saliency in self.saliency.items()
        )

    @property
    def item_scores(self) -> pl.DataFrame:
        parts = []
        for benchmark, scores in self.scores.items():
            item, model = np.indices(scores.shape).reshape(2, -1)
            ids = pl.Series(self.item_ids(benchmark), dtype=pl.String)
            parts.append(
                pl.DataFrame(
                    {
                        "item_id": ids.gather(item),
                        "model": model,
                        "score": scores.ravel(),
                    }
                ).select(
                    pl.format("m{}", "model").alias("model_id"),
                    pl.lit(benchmark).alias("benchmark_id"),
                    "item_id",
                    pl.col("score").fill_nan(None),
                )
            )
        return pl.concat(parts)

    @property
    def concepts(self) -> pl.DataFrame:
        n = self.n_latents
        return pl.DataFrame({"latent_index": range(n)}).select(
            encoder_id=pl.lit(self.encoder_id),
            latent_index=pl.col("latent_index").cast(pl.Int64),
            label=pl.format("concept {}", "latent_index"),
            in_dictionary=pl.lit(value=True),
            is_dense=pl.lit(value=False),
            reference_density=pl.lit(None, pl.Float64),
        )

    @property
    def activations(self) -> list[Activations]:
        return list(
            benchmark_activations(
                self.item_concepts,
                self.item_encodings,
                self.item_clusters,
                n_latents=self.n_latents,
            )
        )

    @property
    def pairs(self) -> list[tuple[Activations, Scores]]:
        return [(a, scores_on(a, self.item_scores)) for a in self.activations]

    def coverage(self, **options: object) -> pl.DataFrame:
        return concept_coverage(
            pl.concat(concept_sums(a) for a in self.activations),
            pl.concat(benchmark_sums(a) for a in self.activations),
            self.concepts,
            options=CoverageOptions(**options),  # pyright: ignore[reportArgumentType]
        )

    def performance(self, *, draws: int = 0, **options: object) -> pl.DataFrame:
        drawn = [
            monte_carlo_p(a, s, n_permutations=draws) for a, s in self.pairs if draws
        ]
        return concept_performance(
            pl.concat(concept_score_sums(a, s) for a, s in self.pairs),
            pl.concat(benchmark_score_sums(a, s) for a, s in self.pairs),
            self.concepts,
            monte_carlo=pl.concat(drawn) if drawn else None,
            options=PerformanceOptions(**options),  # pyright: ignore[reportArgumentType]
        )


def one_benchmark(
    saliency: Table, scores: Table, clusters: list[int] | None = None
) -> ConceptWorld:
    """A single benchmark "b"; scores may be of one model, one an item."""
    by_model = scores.reshape(len(saliency), -1)
    groups = {} if clusters is None else {"b": clusters}
    return ConceptWorld({"b": saliency}, {"b": by_model}, groups)


def random_world(
    seed: int = 0,
    *,
    n_items: int = 200,
    n_latents: int = 40,
    n_models: int = 3,
    density: float = 0.3,
    benchmarks: tuple[str, ...] = ("b",),
    cluster_size: int = 1,
) -> ConceptWorld:
    """Gamma saliencies at random places and coin flips for scores."""
    random = np.random.default_rng(seed)
    shape = (n_items, n_latents)
    share = density * random.random(n_latents) * 2
    saliency = {
        b: random.gamma(2.0, 1.0, shape) * (random.random(shape) < share)
        for b in benchmarks
    }
    scores = {
        b: (random.random((n_items, n_models)) < 0.6).astype(float) for b in benchmarks
    }
    groups = {b: [i // cluster_size for i in range(n_items)] for b in benchmarks}
    return ConceptWorld(saliency, scores, groups)
