"""CPU seconds and memory of phrase clustering and embedding, beside plain baselines.

Run it on one thread, or CPU seconds mean little:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.skills --phrases 62000

Compare ratios within one run only. Peak memory is printed before the baselines run,
since the system remembers the highest mark of the process.
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist

from skillmap.embedding.minilm import MiniLM
from skillmap.slicing.clusters import average_linkage_clusters, leader_clusters
from skillmap.slicing.neighbours import Neighbours, threshold_neighbours

Result = TypeVar("Result")

DIMENSIONS = 384
REPETITIONS = 3
# Matrix products of one of MiniLM's layers, as (columns in, columns out).
LAYER = [(384, 1152), (384, 384), (384, 1536), (1536, 384)]
FLOP_PER_TOKEN = 6 * 2 * sum(n_in * n_out for n_in, n_out in LAYER)
# Each of these is one word piece, so a phrase has its words and two marks as tokens.
VERBS = ["adding", "reading", "drawing", "testing", "ordering", "finding", "naming"]
NOUNS = [
    *("water", "chain", "rule", "mass", "energy", "market", "law", "court", "music"),
    *("chart", "graph", "angle", "number", "river", "cell", "protein", "king", "war"),
    *("treaty", "poem", "verb", "tax", "price", "light", "sound", "field", "light"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phrases", type=int, default=15_000)
    parser.add_argument("--threshold", type=float, default=0.80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip-embedding", action="store_true")
    options = parser.parse_args()

    vectors = phrase_vectors(options.phrases, seed=options.seed)
    print(f"{len(vectors):,} phrases, threshold {options.threshold}")
    measure_clustering(vectors, options.threshold)
    if not options.skip_embedding:
        measure_embedding(options.seed)


def phrase_vectors(n: int, *, seed: int) -> NDArray[np.float32]:
    """Phrases around concepts around topics, variance falling as 1 / rank.

    The numbers were chosen to give, at 62,000 phrases and a threshold of .80, what
    phrases of real concepts gave: 1 to 2 pairs a phrase, and one giant component of an
    eighth of them, here a walk of concepts where each is close to the one before.
    """
    random = np.random.default_rng(seed)
    normal = partial(random.standard_normal, dtype=np.float32)
    n_topics, n_concepts = max(1, n // 150), max(2, int(n / 2.6))
    n_walk = n_concepts // 4
    scale = (1 / np.sqrt(np.arange(1, DIMENSIONS + 1) + 20)).astype(np.float32)
    topics = normal((n_topics, DIMENSIONS)) * scale
    own = normal((n_concepts, DIMENSIONS)) * scale
    concepts = topics[random.integers(0, n_topics, n_concepts)] + np.float32(0.62) * own
    for step in range(1, n_walk):
        concepts[step] = 0.955 * concepts[step - 1] + 0.3 * own[step]

    concept = random.integers(0, n_concepts, n)
    widest = np.where(concept < n_walk, 0.33, 0.85)
    spread = random.uniform(0.2, widest)[:, np.newaxis].astype(np.float32)
    vectors = concepts[concept] + spread * normal((n, DIMENSIONS)) * scale
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def measure_clustering(vectors: NDArray[np.float32], threshold: float) -> None:
    start_memory = peak_megabytes()
    pairs, join = best(lambda: threshold_neighbours(vectors, threshold=threshold))
    labels, average = best(
        lambda: average_linkage_clusters(pairs, vectors, threshold=threshold)
    )
    leaders, leader = best(
        lambda: leader_clusters(pairs, len(vectors), threshold=threshold)
    )
    memory = peak_megabytes()
    component = components(pairs, len(vectors))

    in_product, triangle = timed(
        lambda: product_pairs(vectors, threshold, triangle=True)
    )
    _, square = timed(lambda: product_pairs(vectors, threshold, triangle=False))
    by_scipy, scipy_average = timed(
        lambda: scipy_clusters(vectors, component, threshold)
    )

    print(
        f"pairs {len(pairs.rows):,}, largest component {np.bincount(component).max():,}"
    )
    print(f"clusters: average {labels.max() + 1:,}, leader {leaders.max() + 1:,}")
    # The product in fp32 may round a pair to the other side of the threshold.
    certain = product_pairs(vectors, threshold + 1e-6, triangle=True)
    possible = product_pairs(vectors, threshold - 1e-6, triangle=True)
    print(
        f"pairs of the full fp32 product: {in_product:,}, "
        f"the join's number between {certain:,} and {possible:,}: "
        f"{certain <= len(pairs.rows) <= possible}"
    )
    print(f"average linkage and SciPy agree: {by_scipy == labels.max() + 1}")
    report("join", join, "blocked product, all rows", square)
    report("join", join, "blocked product, upper triangle", triangle)
    report("average linkage", average, "SciPy linkage in components", scipy_average)
    report("leader", leader, "blocked product, all rows", square)
    report("join + average linkage", join + average, "product, all rows", square)
    print(
        f"peak memory {memory:,.0f} MB, {start_memory:,.0f} when the vectors were made"
    )


def product_pairs(
    vectors: NDArray[np.float32], threshold: float, *, triangle: bool
) -> int:
    """Baseline: the product in blocks of rows, all of it or its upper triangle."""
    n_pairs = 0
    for top in range(0, len(vectors), 1024):
        left = top if triangle else 0
        block = vectors[top : top + 1024] @ vectors[left:].T
        rows, columns = np.divmod(
            np.flatnonzero(block.reshape(-1) >= threshold), block.shape[1]
        )
        n_pairs += int(np.count_nonzero(rows + top < columns + left))
    return n_pairs


def components(pairs: Neighbours, n: int) -> NDArray[np.int32]:
    ones = np.ones(len(pairs.rows), np.int8)
    linked = coo_array((ones, (pairs.rows, pairs.columns)), shape=(n, n))
    return connected_components(linked, directed=False)[1]


def scipy_clusters(
    vectors: NDArray[np.float32], component: NDArray[np.int32], threshold: float
) -> int:
    """Baseline: SciPy's average linkage on all distances of each component."""
    members = np.argsort(component, kind="stable")
    n_clusters = 0
    for rows in np.split(members, np.cumsum(np.bincount(component))[:-1]):
        if len(rows) == 1:
            n_clusters += 1
            continue
        tree = linkage(pdist(vectors[rows], "cosine"), method="average")
        n_clusters += fcluster(tree, 1 - threshold, criterion="distance").max()
    return int(n_clusters)


def measure_embedding(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 6, 2_000)
    phrases = [
        " ".join([random.choice(VERBS), *random.choice(NOUNS, length - 1)])
        for length in lengths
    ]
    n_distinct = len(dict.fromkeys(phrases))
    n_tokens = sum(len(phrase.split()) + 2 for phrase in dict.fromkeys(phrases))
    embedder = MiniLM(n_threads=1)
    embedder.embed(phrases[:10])

    seconds, bounds = [], []
    for _ in range(REPETITIONS):
        seconds.append(timed(lambda: embedder.embed(phrases))[1])
        bounds.append(product_seconds_per_token() * n_tokens)
    print(
        f"embedding: {n_distinct / min(seconds):,.0f} phrases of "
        f"{n_tokens / n_distinct:.1f} tokens per CPU second, "
        f"{FLOP_PER_TOKEN * n_tokens / min(seconds) / 1e9:.0f} GFLOP/s"
    )
    report("its matrix products alone", min(bounds), "embedding", min(seconds))


def product_seconds_per_token() -> float:
    """Seconds that one token's share of MiniLM's matrix products takes in NumPy."""
    n_rows, total = 1_024, 0.0
    random = np.random.default_rng(0)
    for n_in, n_out in LAYER:
        left = random.standard_normal((n_rows, n_in), dtype=np.float32)
        right = random.standard_normal((n_in, n_out), dtype=np.float32)
        out = np.empty((n_rows, n_out), np.float32)
        total += timed(partial(repeat_product, left, right, out))[1]
    return total / n_rows


def repeat_product(
    left: NDArray[np.float32], right: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    for _ in range(6):  # one for each layer
        np.matmul(left, right, out=out)


def best(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of ``work``, and its least CPU seconds of a few runs."""
    runs = [timed(work) for _ in range(REPETITIONS)]
    return runs[0][0], min(seconds for _, seconds in runs)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def report(ours: str, seconds: float, baseline: str, baseline_seconds: float) -> None:
    share = seconds / baseline_seconds
    print(
        f"{ours}: {seconds:.2f} CPU-s, {share:.1%} of "
        f"{baseline} ({baseline_seconds:.2f})"
    )


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
