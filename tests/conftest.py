from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The development data beside the checkout, which is no part of the project."""
    folder = Path(__file__).parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the development data in ../{folder.name}, which is absent")
    return folder
