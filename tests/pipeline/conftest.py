from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import DagsterInstance

from tests.pipeline.places import Made, copied


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Iterator[Made]:
    """An up to date home; its Dagster instance knows of no earlier run."""
    with DagsterInstance.ephemeral() as instance:
        base = tmp_path_factory.getbasetemp()
        yield copied(base, tmp_path / "home", instance=instance)


@pytest.fixture
def remembered(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> Iterator[Made]:
    """An up to date home with the Dagster instance that made it."""
    found = copied(tmp_path_factory.getbasetemp(), tmp_path / "home")
    with found.platform.instance:
        yield found
