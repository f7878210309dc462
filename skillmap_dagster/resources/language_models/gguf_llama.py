"""Turns a GGUF file of a Llama model into a Hugging Face folder.

The tensors are dequantised to float32 and renamed to those of a Llama model of
transformers, and tokenizer and chat template are written out, so that transformers
and vLLM load the folder without a download. Needs ``gguf``, of the extra ``local``.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from skillmap.errors import InvalidInputError

_CONTROL_TOKEN = 3  # llama.cpp's token type of <|im_start|> and the like

_OUTSIDE_BLOCKS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_INSIDE_BLOCKS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}

_Weights = npt.NDArray[np.float32]


def convert(source: Path, target: Path) -> None:
    """Write weights, configuration and tokenizer of a GGUF Llama model.

    Args:
        source: The GGUF file.
        target: Folder to make; about 540 MB for SmolLM2-135M.

    Raises:
        InvalidInputError: If ``gguf`` is not installed.
    """
    gguf = _gguf()
    reader = gguf.GGUFReader(source)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    weights = _weights(gguf, reader, fields)
    target.mkdir(parents=True, exist_ok=True)
    _write_json(target / "config.json", _configuration(fields, weights))
    _write_json(target / "tokenizer_config.json", _tokenizer_configuration(fields))
    _tokenizer(fields).save(str(target / "tokenizer.json"))
    # Last, so that a folder with weights is a complete one.
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})


def _weights(gguf: Any, reader: Any, fields: dict[str, Any]) -> dict[str, _Weights]:
    n_heads = {
        "attn_q": fields["llama.attention.head_count"],
        "attn_k": fields["llama.attention.head_count_kv"],
    }
    weights: dict[str, _Weights] = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        # GGUF lists the fastest axis first, NumPy last.
        values = values.reshape([int(size) for size in reversed(tensor.shape)])
        name = tensor.name.removesuffix(".weight")
        part = name.rsplit(".", 1)[-1]
        if part in n_heads:
            values = _rotary_halves(values, n_heads[part])
        weights[_new_name(name)] = np.ascontiguousarray(values)
    return weights


def _new_name(name: str) -> str:
    if name in _OUTSIDE_BLOCKS:
        return f"{_OUTSIDE_BLOCKS[name]}.weight"
    _, layer, part = name.split(".")
    return f"model.layers.{layer}.{_INSIDE_BLOCKS[part]}.weight"


def _rotary_halves(values: _Weights, n_heads: int) -> _Weights:
    """Query or key rows in transformers' order.

    llama.cpp rotates neighbouring rows of a head, transformers rotates row i with
    row i + half, so GGUF files hold the rows of each head interleaved.
    """
    n_rows, n_columns = values.shape
    pairs = values.reshape(n_heads, n_rows // n_heads // 2, 2, n_columns)
    return pairs.swapaxes(1, 2).reshape(n_rows, n_columns)


def _configuration(
    fields: dict[str, Any], weights: dict[str, _Weights]
) -> dict[str, Any]:
    n_heads = fields["llama.attention.head_count"]
    rope_theta = float(fields["llama.rope.freq_base"])
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "hidden_size": fields["llama.embedding_length"],
        "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"],
        "num_attention_heads": n_heads,
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "head_dim": fields["llama.embedding_length"] // n_heads,
        "max_position_embeddings": fields["llama.context_length"],
        "rms_norm_eps": float(fields["llama.attention.layer_norm_rms_epsilon"]),
        # Older releases of transformers read the first form, newer ones the second.
        "rope_theta": rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": rope_theta},
        "hidden_act": "silu",
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "bos_token_id": fields["tokenizer.ggml.bos_token_id"],
        "eos_token_id": fields["tokenizer.ggml.eos_token_id"],
        "pad_token_id": fields["tokenizer.ggml.eos_token_id"],
        "dtype": "float32",
    }


def _tokenizer(fields: dict[str, Any]) -> Tokenizer:
    tokens = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ", 1)) for merge in fields["tokenizer.ggml.merges"]]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, fuse_unk=False)  # pyright: ignore[reportArgumentType]  # the stub wants exact pairs
    )
    # SmolLM splits numbers into digits; the GGUF file only names that rule "smollm".
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = fields["tokenizer.ggml.token_type"]
    tokenizer.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == _CONTROL_TOKEN
        ]
    )
    return tokenizer


def _tokenizer_configuration(fields: dict[str, Any]) -> dict[str, Any]:
    tokens = fields["tokenizer.ggml.tokens"]
    end = tokens[fields["tokenizer.ggml.eos_token_id"]]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[fields["tokenizer.ggml.bos_token_id"]],
        "eos_token": end,
        "pad_token": end,
        "model_max_length": fields["llama.context_length"],
        "chat_template": fields["tokenizer.chat_template"],
        "clean_up_tokenization_spaces": False,
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def _gguf() -> Any:
    try:
        return importlib.import_module("gguf")
    except ImportError as error:
        raise InvalidInputError(
            "gguf is not installed. Install it with `pip install gguf`; the extra "
            "`local` has it"
        ) from error
