"""Choices that change the results, kept beside them in the home folder."""

from pathlib import Path
from typing import Annotated, Literal, Self

import dagster as dg
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.configuration import (
    AnnotatorModel,
    LanguageModel,
    OfflineAnnotator,
    Probing,
    Responder,
    Verification,
)

_Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Route(BaseModel):
    """A set of models to choose from, item by item.

    Attributes:
        models: The candidates.
        benchmark: The benchmark, or None for all items.
        uses_text: Whether questions are embedded, for policies that look at them.
        reads_responses: Whether a policy may ask one model first and read its
            response before it decides on another; only if responses are stored.
        reads_response_of: The model it asks first. Default: the best single one.
        prices: What an item costs with each model, by name. Default: what the stored
            responses did cost, or their tokens, where that is known.
        cost_unit: What the prices are counted in.
        n_splits: Splits into folds that the gains are the mean of.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: tuple[str, ...] = Field(min_length=2)
    benchmark: str | None = None
    uses_text: bool = False
    reads_responses: bool = True
    reads_response_of: str | None = None
    prices: dict[str, _Price] = {}
    cost_unit: Literal["usd", "tokens"] = "usd"
    n_splits: int = Field(default=3, ge=1)

    @model_validator(mode="after")
    def _names_are_of_the_models(self) -> Self:
        if self.prices and sorted(self.prices) != sorted(self.models):
            raise ValueError(
                f"prices: must name each of the models once, {sorted(self.models)}, "
                f"got {sorted(self.prices)}"
            )
        if self.reads_response_of is not None and (
            self.reads_response_of not in self.models
        ):
            raise ValueError(
                f"reads_response_of: must be one of {sorted(self.models)}, got "
                f"{self.reads_response_of!r}"
            )
        return self


class AnalysisSettings(BaseModel):
    """How phrases become skills, and skills slices.

    Attributes:
        embedder: ``minilm`` for the packaged model, or the name or folder of any
            sentence-transformers model.
        similarity_threshold: Phrases at least this alike, as a cosine, can be one
            skill.
        broad_similarity_threshold: Skills at least this alike can be one broad skill.
        clustering: ``average``, average linkage; or ``leader``, the published
            method, to compare with.
        minimum_slice_items: Items that make a skill a slice, inclusive.
        routes: Sets of models that routing is evaluated on.
        language_models: By name, the language models that may be asked.
        responders: By name of the evaluated model, who answers items.
        annotators: By name, who writes rationales and names skills.
        verifiers: Language models that check skills.
        verification: What they check.
        probing: Who is probed with small questions; nobody if not given.
        offline_annotator: How skills are found without a language model; not at all
            if not given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str = "minilm"
    similarity_threshold: float = Field(default=0.8, gt=0, le=1)
    broad_similarity_threshold: float = Field(default=0.55, gt=0, le=1)
    clustering: Literal["average", "leader"] = "average"
    minimum_slice_items: int = Field(default=100, ge=1)
    routes: tuple[Route, ...] = ()
    language_models: dict[str, LanguageModel] = {}
    responders: dict[str, Responder] = {}
    annotators: dict[str, AnnotatorModel] = {}
    verifiers: tuple[str, ...] = ()
    verification: Verification = Verification()
    probing: Probing | None = None
    offline_annotator: OfflineAnnotator | None = None

    def language_model(self, name: str) -> LanguageModel:
        """A configured language model.

        Raises:
            InvalidInputError: If none has this name.
        """
        if name not in self.language_models:
            known = ", ".join(sorted(self.language_models)) or "none"
            raise InvalidInputError(
                f"settings: no language model {name!r} under `language_models`; there "
                f"are: {known}"
            )
        return self.language_models[name]


class Settings(dg.ConfigurableResource):
    """Reads the settings file; without one, the defaults hold.

    Attributes:
        file: A YAML file with any of the fields of ``AnalysisSettings``.
    """

    file: str

    def read(self) -> AnalysisSettings:
        """The settings as they are now.

        Raises:
            InvalidInputError: If the file has an unknown field or a value out of
                range.
        """
        path = Path(self.file)
        if not path.exists():
            return AnalysisSettings()
        try:
            return AnalysisSettings.model_validate(
                yaml.safe_load(path.read_text("utf-8")) or {}
            )
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}"
                for e in error.errors()
            ]
            raise InvalidInputError(f"{path}: {'; '.join(wrong)}") from error
        except (UnicodeDecodeError, yaml.YAMLError) as error:
            raise InvalidInputError(f"{path}: {error}") from error

    def write(self, settings: AnalysisSettings) -> None:
        """Make ``settings`` the home's settings."""
        path = Path(self.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        told = settings.model_dump(mode="json", exclude_defaults=True)
        path.write_text(yaml.safe_dump(told, sort_keys=True), "utf-8")
