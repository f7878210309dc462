"""Routing among models of a published database, and the speed of routing at full size.

What each policy gains on the items that all candidates answered, over several splits:

    python -m benchmarks.routing --database HOME/skillmap.duckdb --benchmark mmlu_pro \
        --models gemini-1.5-flash-002,DeepSeek-Coder-V2,Meta-Llama-3_1-70B-Instruct \
        --vectors vectors.npz

Texts are embedded once, a few minutes for ten thousand, and kept in the file named.
Without a database only the speed is measured, on made-up items, in CPU seconds.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from skillmap.embedding.minilm import MiniLM
from skillmap.routing.evaluation import default_policies, route_evaluation
from skillmap.routing.evidence import Labels, RoutingItems, routing_items
from skillmap.routing.frontier import routing_frontier
from skillmap.routing.membership import membership
from skillmap.routing.policies import PublishedPolicy
from skillmap.routing.published import (
    first_best,
    leave_one_out_scores,
    slice_sums,
)
from skillmap.routing.rationale_policy import RationalePolicy
from skillmap.routing.responses import ModelResponses, model_responses
from skillmap.routing.skill_policy import SkillPolicy

Result = TypeVar("Result")

# Of a question and of the whole text with its options: about 128 word pieces.
QUESTION_CHARACTERS, TEXT_CHARACTERS = 500, 700


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--benchmark", default="mmlu_pro")
    parser.add_argument("--models", default="")
    parser.add_argument("--vectors", type=Path, help="kept here; made if absent")
    parser.add_argument("--costs", default="", help="of an item by each model")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--leave-out-drifted", action="store_true")
    options = parser.parse_args()
    pl.Config.set_tbl_cols(-1)
    pl.Config.set_tbl_rows(-1)
    pl.Config.set_tbl_width_chars(160)
    if options.database is None:
        measure_speed()
    else:
        measure_gain(options)


def measure_gain(options: argparse.Namespace) -> None:
    items = stored_items(options)
    policies = [
        *default_policies(items),
        SkillPolicy(("category", "origin"), "skill_without_text"),
        SkillPolicy(("text",), "text_only"),
        *(
            RationalePolicy(reads=model, name=f"reads:{model}")
            for model in items.responses
        ),
        RationalePolicy(kinds=("category", "origin"), name="rationale_without_text"),
        RationalePolicy(kinds=(), name="rationale_only"),
    ]
    alone = replace(items, related_scores=None)
    seeds = range(options.seeds)
    for name, some in (("with relatives", items), ("without", alone)):
        found, seconds = timed(
            lambda some=some: route_evaluation(
                some, policies=policies, n_folds=options.folds, seeds=seeds
            )
        )
        print(f"{name}: {seconds:.0f} CPU-s for {options.seeds} splits, in points")
        columns = pl.selectors.starts_with("accuracy", "gain") * 100
        print(
            found.policies.select(
                "policy", "reads_response_of", "n_items", columns.round(2)
            )
        )
        if items.costs is not None:
            frontier = routing_frontier(some, found, n_prices=9)
            print(frontier.filter(~pl.col("is_dominated")).drop("candidate_models"))
    if "skill" in items.labels:
        choice = published_choices(items)
        accuracy = items.scores[np.arange(len(choice)), choice].mean()
        print(f"the paper's rule as released, not cross-fitted: {accuracy:.4f}")
    for policy in (SkillPolicy(), RationalePolicy()):
        print(f"why, by the policy {policy.name}:")
        fit = policy.fit(items, np.arange(100, len(items.item_ids)))
        for words in fit.explanations(items, np.arange(3))["words"]:
            print("  ", words)


def stored_items(options: argparse.Namespace) -> RoutingItems:
    models: list[str] = options.models.split(",")
    with duckdb.connect(str(options.database), read_only=True) as connection:
        own = {"benchmark": options.benchmark}
        scores, items, groups, slice_items = (
            connection.execute(
                f"select * from {table} where benchmark_id = $benchmark",  # noqa: S608 - our own table names
                own,
            ).pl()
            for table in (
                "mart.item_scores",
                "core.items",
                "core.item_groups",
                "core.slice_items",
            )
        )
        responses = connection.execute(
            "select r.* from core.responses r join core.eval_runs using (eval_run_id) "
            "where is_primary and r.benchmark_id = $benchmark and epoch = 0",
            own,
        ).pl()
    others = scores["model_id"].unique().sort().to_list()
    found = routing_items(
        scores,
        items,
        model_ids=models,
        item_groups=groups,
        slice_items=slice_items,
        related_model_ids=[model for model in others if model not in models],
        include_drifted=not options.leave_out_drifted,
    )
    found = replace(found, responses=with_text(found, responses))
    if options.costs:
        costs = np.array([float(cost) for cost in options.costs.split(",")])
        found = replace(found, costs=np.tile(costs, (len(found.item_ids), 1)))
    if options.vectors is None:
        return found
    return replace(found, vectors=stored_vectors(found, items, options.vectors))


def with_text(
    found: RoutingItems, responses: pl.DataFrame
) -> dict[str, ModelResponses]:
    """Responses of the candidates that have any text."""
    parts = responses.filter(pl.col("response").is_not_null()).partition_by(
        "model_id", as_dict=True
    )
    return {
        model: model_responses(found.item_ids, parts[(model,)])
        for model in found.model_ids
        if (model,) in parts
    }


def stored_vectors(
    found: RoutingItems, items: pl.DataFrame, path: Path
) -> NDArray[np.float64]:
    """Vectors of question and options, from the file or now made and written there."""
    texts = (
        pl.DataFrame({"item_id": found.item_ids})
        .join(items, on="item_id", how="left", maintain_order="left")
        .select(
            text=pl.format(
                "{} {}",
                pl.col("question").fill_null("").str.slice(0, QUESTION_CHARACTERS),
                pl.col("choices").list.join(" | ").fill_null(""),
            ).str.slice(0, TEXT_CHARACTERS)
        )["text"]
        .to_list()
    )
    if not path.exists():
        vectors = MiniLM(n_threads=1).embed(texts, progress=show)
        np.savez(path, v=vectors, ids=np.array(found.item_ids.to_list()))
    kept = np.load(path)
    rows = pl.DataFrame({"item_id": kept["ids"]}).with_row_index("row")
    places = pl.DataFrame({"item_id": found.item_ids}).join(
        rows, on="item_id", how="left", maintain_order="left"
    )["row"]
    if places.null_count():
        raise SystemExit(f"{path} lacks {places.null_count()} items: delete it")
    return kept["v"][places.to_numpy()].astype(np.float64)


def show(done: int, total: int) -> None:
    if done * 10 // total > (done - 1) * 10 // total:
        print(f"embedded {done:,} of {total:,}", flush=True)


def measure_speed() -> None:
    for n_models in (3, 50):
        items = made_up_items(46_000, n_models)
        _, leave_one_out = best(lambda items=items: published_choices(items))
        _, folds = timed(
            lambda items=items: route_evaluation(items, policies=[PublishedPolicy()])
        )
        _, ours = timed(lambda items=items: SkillPolicy().fit(items, np.arange(46_000)))
        print(
            f"46,000 items, 391 slices, {n_models} models: "
            f"paper leave-one-out {leave_one_out:.3f}, "
            f"evaluated in 5 folds with the baselines {folds:.2f}, "
            f"one fit of the skill policy {ours:.2f} CPU-s"
        )


def published_choices(items: RoutingItems) -> NDArray[np.int64]:
    """The paper's choices as its code makes them, each item left out of its slices."""
    held = items.labels["skill"].membership
    sums = slice_sums(held, items.scores)
    return first_best(leave_one_out_scores(held, items.scores, sums))


def made_up_items(n_items: int, n_models: int) -> RoutingItems:
    random = np.random.default_rng(0)
    n_slices, n_pairs = 391, 164_000
    share = 1 / np.arange(2, n_slices + 2)
    columns = random.choice(n_slices, n_pairs, p=share / share.sum())
    rows = random.integers(0, n_items, n_pairs)
    skill = Labels(
        tuple(f"s{column}" for column in range(n_slices)),
        membership(rows, columns, (n_items, n_slices)),
    )
    item_ids = pl.Series([f"i{row:05}" for row in range(n_items)])
    scores = (random.uniform(size=(n_items, n_models)) < 0.7).astype(np.float64)
    models = tuple(f"m{model}" for model in range(n_models))
    return RoutingItems(item_ids, models, scores, item_ids, {"skill": skill})


def best(work: Callable[[], Result], n: int = 3) -> tuple[Result, float]:
    runs = [timed(work) for _ in range(n)]
    return runs[0][0], min(seconds for _, seconds in runs)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    main()
