"""The language models that skillmap may ask, with their log and their budget."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import polars as pl

from skillmap.calls import Call, Parameters
from skillmap.calls.budget import Budget
from skillmap.calls.prices import Price, Prices
from skillmap.calls.progress import CallProgress, CallSummary
from skillmap.prompting.item_calls import Asked
from skillmap_dagster.resources.language_models.call_log import CallLog
from skillmap_dagster.resources.language_models.configuration import LanguageModel
from skillmap_dagster.resources.language_models.runner import make_calls
from skillmap_dagster.resources.language_models.session import (
    Session,
    current_session,
)
from skillmap_dagster.resources.language_models.transports import (
    ConfiguredTransport,
)

_SECONDS_BETWEEN_LINES = 10
_ASKED_SCHEMA = pl.Schema(
    {
        "about": pl.String(),
        "epoch": pl.Int64(),
        "begun": pl.String(),
        "call_key": pl.String(),
    }
)


class LanguageModels(dg.ConfigurableResource):
    """Asks language models, each call once whoever asks for it.

    Attributes:
        folder: Where the call log is.
        cache: Where converted weights are kept; may be deleted at any time.
        budget_usd: Most that a run may spend, in USD, or None.
        budget_tokens: Most tokens that a run may use, or None.
        n_items: Most items of a benchmark that are asked, for a trial, or None.
        names: Annotators or verifiers that are asked, or None for all that are
            configured; of the others, what the log holds.
    """

    folder: str
    cache: str
    budget_usd: float | None = None
    budget_tokens: int | None = None
    n_items: int | None = None
    names: list[str] | None = None

    def asks(self, name: str) -> bool:
        """Whether an annotator or verifier is asked now."""
        return self.names is None or name in self.names

    @property
    def log(self) -> CallLog:
        """Every call that was made, and what came back."""
        return CallLog(Path(self.folder))

    def asked(
        self, name: str, model: LanguageModel, *, max_tokens: int | None = None
    ) -> Asked:
        """A configured model as calls name it.

        Args:
            name: Its name among the language models.
            model: Its configuration.
            max_tokens: Most tokens of an answer, if not the model's own.
        """
        parameters = Parameters(
            max_tokens=max_tokens or model.max_tokens,
            temperature=model.temperature,
            top_p=model.top_p,
            seed=model.seed,
        )
        return Asked(
            model=name,
            served_name=model.served_name or name,
            parameters=parameters,
            revision=model.revision,
        )

    def first_items(self, items: pl.DataFrame) -> pl.DataFrame:
        """The items that may be asked: all, or the first few by position and id."""
        if self.n_items is None:
            return items
        return items.sort("item_position", "item_id", nulls_last=True).head(
            self.n_items
        )

    def answers(
        self,
        name: str,
        model: LanguageModel,
        calls: Iterable[Call],
        *,
        n_calls: int,
        is_asked: bool = True,
    ) -> pl.DataFrame:
        """Make the calls that the log does not hold, and look up what came back.

        Args:
            name: The model's name among the language models.
            model: Its configuration.
            calls: Each with the item it is about; pulled as they are made.
            n_calls: How many there are, for whoever watches.
            is_asked: Whether calls that the log does not hold are made.

        Returns:
            One row per call, in their order: ``about``, ``epoch``, ``begun`` (the
            words that the prompt began the model's turn with, or ""), ``call_key``
            and the columns of the call log's replies. Calls that the budget left no
            room for have the status "not_attempted".

        Raises:
            InvalidInputError: If no call can be made as things are configured.
        """
        noted = _Noted(iter(calls))
        if is_asked:
            self._make(name, model, noted, n_calls)
        # Calls that were never pulled are asked for all the same.
        noted.drain()
        with self.log as log:
            return _with_replies(noted.frame(), log)

    def _make(
        self, name: str, model: LanguageModel, calls: "_Noted", n_calls: int
    ) -> None:
        session = current_session()
        budget = session.left if session else self._own_budget
        with (
            ConfiguredTransport(
                name, model, cache=Path(self.cache), folder=Path(self.folder)
            ) as transport,
            self.log as log,
        ):
            summary = make_calls(
                calls,
                transport=transport,
                log=log,
                budget=budget,
                prices=_prices(name, model),
                progress=_listener(name, session),
                n_calls=n_calls,
            )
        if session:
            session.summaries.append(summary)
        _tell(name, summary)

    @property
    def _own_budget(self) -> Budget:
        return Budget(usd=self.budget_usd, tokens=self.budget_tokens)


@dataclass
class _Noted:
    """Calls as they pass, with what is needed of them later: not their messages."""

    calls: Iterator[Call]
    rows: list[tuple[str, int, str, str]] = field(
        default_factory=list[tuple[str, int, str, str]]
    )

    def __iter__(self) -> Iterator[Call]:
        for call in self.calls:
            last = call.messages[-1]
            begun = last.content if last.role == "assistant" else ""
            self.rows.append((call.about, call.epoch, begun, call.key))
            yield call

    def drain(self) -> None:
        for _ in self:
            pass

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, schema=_ASKED_SCHEMA, orient="row")


def _with_replies(asked: pl.DataFrame, log: CallLog) -> pl.DataFrame:
    replies = log.frame(asked["call_key"].unique(maintain_order=True).to_list())
    return asked.join(
        replies, left_on="call_key", right_on="key", how="left", maintain_order="left"
    ).with_columns(pl.col("status").fill_null("not_attempted"))


def _prices(name: str, model: LanguageModel) -> Prices:
    prompt = model.usd_per_million_prompt_tokens
    completion = model.usd_per_million_completion_tokens
    if prompt is None or completion is None:
        return Prices()
    return Prices({name: Price(prompt=prompt, completion=completion)})


def _listener(name: str, session: Session | None) -> Callable[[CallProgress], None]:
    """Who is told how far the calls are: the command that waits, or the run's log."""
    if session and session.progress:
        return session.progress
    log = dg.get_dagster_logger()
    last = time.monotonic()

    def tell(progress: CallProgress) -> None:
        nonlocal last
        if time.monotonic() - last < _SECONDS_BETWEEN_LINES:
            return
        last = time.monotonic()
        log.info(
            "%s: %d of %s calls, %.1f a second, %.4f USD, %d tokens, %d errors",
            name,
            progress.n_done,
            "?" if progress.n_calls is None else progress.n_calls,
            progress.calls_per_second,
            progress.cost_usd,
            progress.n_tokens,
            progress.n_errors,
        )

    return tell


def _tell(name: str, summary: CallSummary) -> None:
    log = dg.get_dagster_logger()
    log.info(
        "%s: %d calls, %d of them from the log; %s; %.4f USD",
        name,
        summary.n_calls,
        summary.n_logged,
        dict(summary.n_by_status),
        summary.cost_usd,
    )
    if summary.is_budget_stopped:
        log.warning(
            "%s: budget_stopped, %d calls were not made; a larger budget goes on from "
            "here",
            name,
            summary.n_not_attempted,
        )
