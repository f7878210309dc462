"""What an encoder is, and the id made of it."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from skillmap.errors import InvalidInputError
from skillmap.ids import short_hash

Template = Literal["chat", "plain"]
Span = Literal["content", "prompt"]
SpecialTokens = Literal["excluded", "included"]
Precision = Literal["float32", "bfloat16", "float16"]

CONTENT: Final = "{content}"

# Raise it with any change to this package that can move an activation.
CODE_VERSION: Final = 1

_HASH_LENGTH: Final = 10


@dataclass(frozen=True, kw_only=True)
class TokenPolicy:
    """Which text a model reads, and which of its tokens count.

    Attributes:
        template: "chat" puts the text into a user's turn of the model's own chat
            template, which writes the special tokens; "plain" reads it as it is,
            after one token that begins a text, where the tokenizer has such a token.
        instruction: What is around the content; ``{content}`` stands once in it.
        span: "content" keeps the tokens of the question and its options, whatever
            stands around them; "prompt" keeps all tokens that the model reads, as
            the paper probably did.
        special_tokens: Whether tokens such as those that begin a text or a turn
            count. In "content" they never do, since they are around it.
        max_length: Tokens that the model reads; those beyond it are cut off.
        max_norm: Longest vector that counts, None for any. Models have a few
            positions with vectors hundreds of times as long as all others, which an
            autoencoder was not trained on.
    """

    template: Template = "chat"
    instruction: str = CONTENT
    span: Span = "content"
    special_tokens: SpecialTokens = "excluded"
    max_length: int = 1024
    max_norm: float | None = None

    def __post_init__(self) -> None:
        """Refuse what no text can be read by.

        Raises:
            InvalidInputError: If the instruction lacks its place for the content, or
                the length or norm is not above 0.
        """
        if self.instruction.count(CONTENT) != 1:
            raise InvalidInputError(
                f"instruction must hold {CONTENT} once, got {self.instruction!r}"
            )
        if self.max_length < 1:
            raise InvalidInputError(
                f"max_length must be above 0, got {self.max_length}"
            )
        if self.max_norm is not None and not self.max_norm > 0:
            raise InvalidInputError(f"max_norm must be above 0, got {self.max_norm}")


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """A model, an autoencoder of one of its layers, and how texts are read.

    The device is no part of it: CUDA and the CPU differ by rounding only.

    Attributes:
        name: What a person calls it, such as "smollm2-135m-l11-2k".
        model: Name of the model.
        model_revision: Commit of its repository, or hash of its files.
        sae: Name of the autoencoder.
        sae_hash: Hash of its configuration and weights.
        layer: Index of the layer after which the residual stream is read.
        dtype: Precision of the model's weights and sums.
        attention: Implementation of attention, as transformers calls it.
        policy: Which text is read, and which tokens count.
        chat_template_hash: Of the chat template, None where none is used.
        versions: Of the libraries that compute, by their names.
        code_version: Of this package.
    """

    name: str
    model: str
    model_revision: str
    sae: str
    sae_hash: str
    layer: int
    dtype: Precision = "float32"
    attention: str = "eager"
    policy: TokenPolicy = field(default_factory=TokenPolicy)
    chat_template_hash: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    code_version: int = CODE_VERSION

    @property
    def encoder_id(self) -> str:
        """The name, and a hash of everything but the name.

        Examples:
            >>> encoder = Encoder(
            ...     name="toy",
            ...     model="m",
            ...     model_revision="1",
            ...     sae="s",
            ...     sae_hash="2",
            ...     layer=3,
            ... )
            >>> encoder.encoder_id.rpartition("-")[0]
            'toy'
        """
        decisive = self.to_json()
        del decisive["name"]
        text = json.dumps(decisive, sort_keys=True, ensure_ascii=False)
        return f"{self.name}-{short_hash(text)[:_HASH_LENGTH]}"

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {**dataclasses.asdict(self), "versions": dict(self.versions)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Encoder":
        """What ``to_json`` gave.

        Raises:
            InvalidInputError: If a field is missing or unknown.
        """
        try:
            policy = TokenPolicy(**content["policy"])
            fields: dict[str, Any] = {**content, "policy": policy}
            return cls(**fields)
        except (KeyError, TypeError) as error:
            raise InvalidInputError(f"encoder: {error}") from error

    def differences(self, other: "Encoder") -> dict[str, tuple[Any, Any]]:
        """Fields that differ, each with this one's value and the other's."""
        mine, theirs = self.to_json(), other.to_json()
        return {
            name: (mine[name], theirs[name])
            for name in mine
            if mine[name] != theirs[name]
        }


def release(version: str) -> str:
    """A version without its local part, which says how a library was built.

    Examples:
        >>> release("2.13.0+cpu")
        '2.13.0'
    """
    return version.partition("+")[0]
