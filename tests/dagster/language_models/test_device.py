import json
import sys
from pathlib import Path
from typing import Any

import pytest

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models import torch_probe
from skillmap_dagster.resources.language_models.device import pick_device

GPU = {"name": "Big GPU", "memory": 80 * 2**30, "capability": [9, 0]}
OLD_GPU = {"name": "Old GPU", "memory": 8 * 2**30, "capability": [7, 5]}


def sees(monkeypatch: pytest.MonkeyPatch, **told: object) -> None:
    seen = {"torch": "2.13.0", "cuda": "13.0", "devices": []} | told
    monkeypatch.setattr(torch_probe, "probe", lambda: seen)


def test_cuda_is_taken_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    sees(monkeypatch, devices=[GPU])

    assert str(pick_device()) == (
        "cuda (Big GPU, 80.0 GiB) in bfloat16: torch sees a CUDA device"
    )
    assert pick_device("cuda", precision="float32").dtype == "float32"
    assert pick_device("cpu").name == "cpu"
    assert pick_device("cpu").reason == "as asked for"


def test_a_gpu_without_bfloat16_computes_in_float16(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sees(monkeypatch, devices=[OLD_GPU])

    assert pick_device().dtype == "float16"


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"torch": None, "cuda": None}, "torch is not installed"),
        ({"cuda": None}, "torch 2.13.0 is built without CUDA"),
        ({}, "torch 2.13.0 sees no CUDA device"),
    ],
)
def test_without_cuda_it_is_the_cpu_and_the_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, seen: dict[str, Any], reason: str
) -> None:
    sees(monkeypatch, **seen)
    picked = pick_device()

    assert (picked.name, picked.dtype, picked.reason) == ("cpu", "float32", reason)
    assert picked.memory_bytes > 2**28
    with pytest.raises(InvalidInputError, match=reason):
        pick_device("cuda")


def test_another_environment_is_asked_with_its_own_torch(tmp_path: Path) -> None:
    told = json.dumps({"torch": "2.13.0", "cuda": "13.0", "devices": [GPU]})
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\necho some warning\necho '{told}'\n")
    interpreter.chmod(0o755)

    assert pick_device(interpreter=interpreter).description == "Big GPU"
    assert pick_device(interpreter=Path(sys.executable)).name == "cpu"


@pytest.mark.parametrize("script", ["exit 3", "echo no JSON", "true"])
def test_an_interpreter_that_cannot_say_is_named(tmp_path: Path, script: str) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\n{script}\n")
    interpreter.chmod(0o755)

    with pytest.raises(InvalidInputError, match=str(interpreter)):
        pick_device(interpreter=interpreter)
