"""A tiny random Llama on disk. `make test-torch` has what these tests need."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXTS = [
    "The capital of France is Paris, and two and two are four.",
    "Which animal barks? A dog barks; a cat does not, and an ant is silent.",
]
_CONTEXT = 256


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a Llama with two layers and random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = trained_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    told: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|end|>",
        "pad_token": "<|end|>",
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=_CONTEXT,
        initializer_range=0.5,  # else one token wins whatever the prompt
        eos_token_id=tokenizer.token_to_id("<|end|>"),
        pad_token_id=tokenizer.token_to_id("<|end|>"),
        bos_token_id=None,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def trained_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=[AddedToken(token, special=True) for token in special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return tokenizer
