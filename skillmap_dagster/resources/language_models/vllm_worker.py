"""Answers batches of calls with ``vllm.LLM``; runs where skillmap is not installed.

Imports vLLM and the standard library only, so that the isolated environment needs
nothing of skillmap, and no version of the two has to agree. As a script it is given
the model and options as one JSON argument, and speaks JSON lines: it says
``{"vllm": VERSION}`` when the model is loaded, then reads a batch of calls from each
line of stdin and writes one line for each reply.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO


class Engine:
    """A model loaded by vLLM.

    Attributes:
        version: Of vLLM.
    """

    def __init__(self, model: str, options: dict[str, Any]) -> None:
        """Load the model.

        Args:
            model: Its folder.
            options: Of ``vllm.LLM``.
        """
        import vllm  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

        self.version: str = vllm.__version__
        self._vllm: Any = vllm
        self._model: Any = vllm.LLM(model=model, **options)

    def answers(self, calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """A reply to each call: ``text`` and what goes with it, or ``error``.

        Args:
            calls: ``key``, ``messages`` as the OpenAI interface has them,
                ``parameters`` of ``vllm.SamplingParams`` and ``schema``, which is a
                JSON schema or None.
        """
        chats: dict[bool, list[tuple[dict[str, Any], Any]]] = {False: [], True: []}
        for call in calls:
            try:
                is_begun = call["messages"][-1]["role"] == "assistant"
                chats[is_begun].append((call, self._parameters(call)))
            except Exception as error:  # noqa: BLE001  one bad call stops no other
                yield _failed(call, error)
        for is_begun, asked in chats.items():
            yield from self._chats(asked, is_begun=is_begun)

    def _parameters(self, call: dict[str, Any]) -> Any:
        parameters = dict(call["parameters"])
        if call.get("schema") is not None:
            from vllm.sampling_params import (  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
                StructuredOutputsParams,
            )

            parameters["structured_outputs"] = StructuredOutputsParams(
                json=call["schema"]
            )
        return self._vllm.SamplingParams(**parameters)

    def _chats(
        self, asked: list[tuple[dict[str, Any], Any]], *, is_begun: bool
    ) -> Iterator[dict[str, Any]]:
        if not asked:
            return
        try:
            outputs = self._model.chat(
                [call["messages"] for call, _ in asked],
                [parameters for _, parameters in asked],
                use_tqdm=False,
                add_generation_prompt=not is_begun,
                continue_final_message=is_begun,
            )
        except Exception as error:  # noqa: BLE001  vLLM rejects all for one, such as one too long
            if len(asked) == 1:
                yield _failed(asked[0][0], error)
                return
            half = len(asked) // 2
            yield from self._chats(asked[:half], is_begun=is_begun)
            yield from self._chats(asked[half:], is_begun=is_begun)
            return
        for (call, _), output in zip(asked, outputs, strict=True):
            yield _answered(call, output)


def _answered(call: dict[str, Any], output: Any) -> dict[str, Any]:
    answer = output.outputs[0]
    return {
        "key": call["key"],
        "text": answer.text,
        "finish_reason": answer.finish_reason,
        "n_prompt_tokens": len(output.prompt_token_ids),
        "n_completion_tokens": len(answer.token_ids),
    }


def _failed(call: dict[str, Any], error: Exception) -> dict[str, Any]:
    return {"key": call["key"], "error": f"{type(error).__name__}: {error}"}


def _own_stdout() -> TextIO:
    """Stdout for replies alone; what vLLM prints there goes to stderr."""
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return replies


def main() -> None:
    """Load the model, then answer batches until stdin ends."""
    replies = _own_stdout()
    told = json.loads(sys.argv[1])
    engine = Engine(told["model"], told["options"])
    replies.write(json.dumps({"vllm": engine.version}) + "\n")
    replies.flush()
    for line in sys.stdin:
        for reply in engine.answers(json.loads(line)):
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


if __name__ == "__main__":
    main()
