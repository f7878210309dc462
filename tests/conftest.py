from pathlib import Path

import pytest
from hypothesis import settings

# Examples are timed by what else the machine does; pytest's own limit is enough.
settings.register_profile("skillmap", deadline=None, print_blob=True)
settings.load_profile("skillmap")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The development data beside the checkout, which is no part of the project."""
    folder = Path(__file__).parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the development data in ../{folder.name}, which is absent")
    return folder
