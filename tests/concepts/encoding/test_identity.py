import json
from dataclasses import fields, replace

import pytest

from skillmap.concepts.encoding.identity import Encoder, TokenPolicy, release
from skillmap.errors import InvalidInputError

ENCODER = Encoder(
    name="toy",
    model="model",
    model_revision="abc",
    sae="sae",
    sae_hash="123",
    layer=3,
    chat_template_hash="def",
    versions={"torch": "2.13.0"},
)
CHANGES = {
    "model": "other",
    "model_revision": "abd",
    "sae": "other",
    "sae_hash": "124",
    "layer": 4,
    "dtype": "bfloat16",
    "attention": "sdpa",
    "policy": TokenPolicy(span="prompt"),
    "chat_template_hash": None,
    "versions": {"torch": "2.14.0"},
    "code_version": 0,
}


def test_an_id_is_readable_and_short() -> None:
    name, _, digest = ENCODER.encoder_id.rpartition("-")

    assert name == "toy"
    assert len(digest) == 10


@pytest.mark.parametrize("field", CHANGES)
def test_everything_but_the_name_makes_another_encoder(field: str) -> None:
    other = replace(ENCODER, **{field: CHANGES[field]})

    assert other.encoder_id != ENCODER.encoder_id
    assert list(ENCODER.differences(other)) == [field]


def test_every_field_has_been_changed() -> None:
    assert {field.name for field in fields(Encoder)} == {"name", *CHANGES}


@pytest.mark.parametrize(
    "policy",
    [
        TokenPolicy(template="plain"),
        TokenPolicy(instruction="Q: {content}"),
        TokenPolicy(special_tokens="included"),
        TokenPolicy(max_length=12),
        TokenPolicy(max_norm=3.0),
    ],
)
def test_every_choice_of_the_policy_counts(policy: TokenPolicy) -> None:
    assert replace(ENCODER, policy=policy).encoder_id != ENCODER.encoder_id


def test_the_name_alone_does_not_change_the_hash() -> None:
    renamed = replace(ENCODER, name="other")

    assert renamed.encoder_id.removeprefix("other") == ENCODER.encoder_id.removeprefix(
        "toy"
    )


def test_json_and_back_is_the_same_encoder() -> None:
    text = json.dumps(ENCODER.to_json())

    assert Encoder.from_json(json.loads(text)) == ENCODER


@pytest.mark.parametrize("change", [{"layers": 3}, {"policy": {"spam": 1}}])
def test_an_unknown_field_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="encoder"):
        Encoder.from_json({**ENCODER.to_json(), **change})


def test_a_release_does_not_say_how_a_library_was_built() -> None:
    assert release("2.13.0+cu130") == release("2.13.0") == "2.13.0"
