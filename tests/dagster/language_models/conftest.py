import pytest

from skillmap_dagster.resources.language_models import retries

# The stand-in must not become the "vllm" of this process.
collect_ignore = ["fake_vllm"]


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries that a test has time for."""
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.002)
    monkeypatch.setattr(retries, "_LONGEST_WAIT", 0.05)
