"""Choices that change the results, kept beside them in the home folder."""

from pathlib import Path
from typing import Literal

import dagster as dg
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skillmap.errors import InvalidInputError


class Route(BaseModel):
    """A set of models to choose from, item by item.

    Attributes:
        models: The candidates.
        benchmark: The benchmark, or None for all items.
        uses_text: Whether questions are embedded, for policies that look at them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: tuple[str, ...] = Field(min_length=2)
    benchmark: str | None = None
    uses_text: bool = False


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
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str = "minilm"
    similarity_threshold: float = Field(default=0.8, gt=0, le=1)
    broad_similarity_threshold: float = Field(default=0.55, gt=0, le=1)
    clustering: Literal["average", "leader"] = "average"
    minimum_slice_items: int = Field(default=100, ge=1)
    routes: tuple[Route, ...] = ()


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
