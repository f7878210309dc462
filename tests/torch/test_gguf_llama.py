"""A Llama that goes into a GGUF file comes out of it again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from skillmap.calls import Call, Message, Parameters, Reply
from skillmap_dagster.resources.language_models.gguf_llama import convert
from skillmap_dagster.resources.language_models.local_model import LocalModel
from tests.torch.conftest import TEMPLATE

gguf = pytest.importorskip("gguf")
pytest.importorskip("transformers")

_HEADS = {"q_proj": 4, "k_proj": 2}
_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}


def gguf_name(name: str) -> str:
    parts = name.removesuffix(".weight").split(".")
    if "layers" not in parts:
        return f"{_NAMES['.'.join(parts)]}.weight"
    return f"blk.{parts[2]}.{_NAMES['.'.join(parts[3:])]}.weight"


def interleaved(values: Any, n_heads: int) -> Any:  # noqa: ANN401  an array
    """Rows of each head as llama.cpp has them: pairs that are rotated together."""
    n_rows, n_columns = values.shape
    halves = values.reshape(n_heads, 2, n_rows // n_heads // 2, n_columns)
    return halves.swapaxes(1, 2).reshape(n_rows, n_columns)


@pytest.fixture
def gguf_file(tiny_model: Path, tmp_path: Path) -> Path:
    writer = gguf.GGUFWriter(tmp_path / "tiny.gguf", "llama")
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_context_length(256)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    tokenizer = Tokenizer.from_file(str(tiny_model / "tokenizer.json"))
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if t.startswith("<|") else 1 for t, _ in vocabulary])
    merges = json_of(tiny_model / "tokenizer.json")["model"]["merges"]
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_chat_template(TEMPLATE)
    for name, values in load_file(tiny_model / "model.safetensors").items():
        heads = next((n for part, n in _HEADS.items() if part in name), None)
        told = values if heads is None else interleaved(values, heads)
        writer.add_tensor(gguf_name(name), np.ascontiguousarray(told))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "tiny.gguf"


def json_of(path: Path) -> Any:  # noqa: ANN401
    return json.loads(path.read_text())


def test_weights_tokenizer_and_answers_are_the_same(
    gguf_file: Path, tiny_model: Path, tmp_path: Path
) -> None:
    convert(gguf_file, tmp_path / "back")

    before = load_file(tiny_model / "model.safetensors")
    after = load_file(tmp_path / "back" / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    chat = (Message("user", "Which animal barks?"),)
    call = Call("tiny", "tiny", chat, Parameters(20))
    answers: list[Reply] = []
    for folder in (tiny_model, tmp_path / "back"):
        LocalModel(folder=folder, device="cpu").transmit([call], answers.append)
    assert answers[0].text == answers[1].text
    assert answers[0].n_prompt_tokens == answers[1].n_prompt_tokens
