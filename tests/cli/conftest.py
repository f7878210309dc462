from collections.abc import Iterator

import pytest
from dagster import DagsterInstance

from tests.pipeline.places import Made, made_again


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """An up to date home; its Dagster instance knows of no earlier run."""
    with DagsterInstance.ephemeral() as instance:
        yield made_again(tmp_path_factory.getbasetemp(), instance=instance)


@pytest.fixture
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """An up to date home with the Dagster instance that made it."""
    found = made_again(tmp_path_factory.getbasetemp())
    with found.platform.instance:
        yield found
