"""Stands in for vLLM: answers by rule, and fails on demand.

A chat's last message is the order: "die", "hang", "refuse" (vLLM rejects the whole
batch for one bad prompt), else it is echoed with all that the engine was told.
"""

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

__version__ = "0.0.fake"


class SamplingParams:
    def __init__(self, **told: object) -> None:
        if "nonsense" in told:
            raise TypeError("Unexpected keyword argument 'nonsense'")
        self.told = told


class LLM:
    def __init__(self, model: str, **options: object) -> None:
        sys.stdout.write("INFO vLLM talks on stdout\n")
        os.write(1, b"INFO and on its descriptor\n")
        if not Path(model).is_dir():
            raise ValueError(f"no model at {model}")
        self.options = options
        starts = Path(model) / "starts"
        starts.write_text(starts.read_text() + "x" if starts.exists() else "x")

    def chat(
        self,
        messages: list[list[dict[str, Any]]],
        sampling_params: list[SamplingParams],
        *,
        use_tqdm: bool,
        add_generation_prompt: bool,
        continue_final_message: bool,
    ) -> list[Any]:
        assert not use_tqdm
        assert add_generation_prompt is not continue_final_message
        orders = [chat[-1]["content"] for chat in messages]
        if "die" in orders:
            sys.stderr.write("ERROR out of memory\n")
            sys.stderr.flush()
            os._exit(9)
        if "hang" in orders:
            time.sleep(600)
        if "refuse" in orders:
            raise ValueError("prompt too long")
        return [
            _output(
                order,
                told=p.told,
                is_begun=continue_final_message,
                options=self.options,
            )
            for order, p in zip(orders, sampling_params, strict=True)
        ]


def _output(
    order: object, *, told: dict[str, Any], is_begun: bool, options: dict[str, Any]
) -> SimpleNamespace:
    environment = {
        name: os.environ.get(name)
        for name in ("OMP_NUM_THREADS", "HF_HUB_OFFLINE", "SOME_API_KEY", "PYTHONPATH")
    }
    parameters = {name: value for name, value in told.items() if name[0] != "_"}
    if "structured_outputs" in parameters:
        parameters["structured_outputs"] = parameters["structured_outputs"].json
    text = (
        ""
        if order == "say nothing"
        else json.dumps(
            {
                "order": order,
                "parameters": parameters,
                "is_begun": is_begun,
                "options": options,
                "environment": environment,
            }
        )
    )
    reason = "length" if order == "say too much" else "stop"
    answer = SimpleNamespace(text=text, finish_reason=reason, token_ids=[1, 2, 3])
    return SimpleNamespace(outputs=[answer], prompt_token_ids=[1, 2])
