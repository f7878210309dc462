"""The home folder: where one installation keeps everything, and the environment."""

import os
from pathlib import Path
from typing import Any

from skillmap_dagster.resources.embedder import Embedding
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.language_models.models import LanguageModels
from skillmap_dagster.resources.registry import Registry
from skillmap_dagster.resources.settings import Settings
from skillmap_dagster.resources.warehouse import Warehouse

_VARIABLE = "SKILLMAP_HOME"
_DEFAULT = ".skillmap"


def home_folder(given: Path | None = None) -> Path:
    """The home folder: the one given, or that of the environment, or the default."""
    return given or Path(os.environ.get(_VARIABLE) or _DEFAULT)


def home_resources(home: Path) -> dict[str, Any]:
    """Every resource of the assets, with its files under ``home``."""
    return {
        "lake": Lake(root=str(home / "lake")),
        "registry": Registry(folder=str(home / "registry"), cache=str(home / "cache")),
        "settings": Settings(file=str(home / "settings.yaml")),
        "embedding": Embedding(cache=str(home / "cache")),
        "language_models": LanguageModels(
            folder=str(home / "calls"), cache=str(home / "cache")
        ),
        "warehouse": Warehouse(file=str(home / "skillmap.duckdb")),
    }
