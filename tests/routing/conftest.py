import pytest

from skillmap_dagster.runs import Platform
from tests.routing.stored import routed_home


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    """The home of `routed_home`; a test that needs other settings writes them."""
    return routed_home(tmp_path_factory.mktemp("routed"))
