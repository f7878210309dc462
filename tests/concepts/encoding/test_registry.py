import pytest

from skillmap.concepts.encoding.registry import encoder_entry, find_encoder, registry
from skillmap.errors import InvalidInputError

PAPER = {
    "meta-llama/Llama-3.1-8B-Instruct",
    "google/gemma-2-2b-it",
    "mistralai/Mistral-7B-Instruct-v0.1",
    "Qwen/Qwen3-4B",
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
}


def test_the_five_models_of_the_paper_are_there() -> None:
    of_paper = [entry for entry in registry().values() if entry.of_paper]

    assert {entry.model for entry in of_paper} == PAPER
    assert len(of_paper) == 5


def test_variants_of_gemma_scope_and_llama_scope_are_there() -> None:
    releases = [entry.release or "" for entry in registry().values()]

    assert sum(name.startswith("gemma-scope") for name in releases) >= 4
    assert sum(name.startswith("llama_scope") for name in releases) >= 3


def test_an_entry_of_the_settings_adds_or_replaces_one() -> None:
    own = {"mine": {"model": "/models/m", "layer": 3, "folder": "/saes/s"}}

    assert find_encoder("mine", own).folder == "/saes/s"
    replaced = {"smollm2-135m-l11-2k": own["mine"]}
    assert find_encoder("smollm2-135m-l11-2k", replaced).layer == 3


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="Known are: deepseek"):
        find_encoder("gpt")


def test_a_transcoder_is_listed_with_why_it_cannot_be_used() -> None:
    with pytest.raises(InvalidInputError, match="is a transcoder"):
        find_encoder("qwen3-4b-l19-transcoder")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"model": "m", "layer": 1}, "give one of folder, release and repository"),
        (
            {"model": "m", "layer": 1, "folder": "f", "repository": "r"},
            "give one of folder, release and repository",
        ),
        ({"model": "m", "layer": 1, "release": "r"}, "release and sae_id go together"),
        ({"model": "m", "folder": "f"}, "layer"),
        ({"model": "m", "layer": 1, "folder": "f", "width": 3}, "width"),
        ({"model": "m", "layer": 1, "folder": "f", "policy": {"x": 1}}, "x"),
    ],
)
def test_an_impossible_entry_is_refused(
    content: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        encoder_entry("mine", content)
