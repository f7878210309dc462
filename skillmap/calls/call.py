"""One question to a language model, with a key made of all that shapes the answer."""

import functools
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Image:
    """An image that goes with a message.

    Attributes:
        media_type: Such as "image/png".
        base64: The image's bytes as base64 text.
    """

    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat. A chat that ends with the assistant is gone on with.

    Attributes:
        role: Who speaks.
        content: The text.
        images: Shown after the text.
    """

    role: Role
    content: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameters:
    """How an answer is decoded.

    Attributes:
        max_tokens: Most tokens of the answer.
        temperature: 0 for the most likely answer; None for the server's default.
        top_p: Share of the probability that is sampled from, or None.
        seed: Of the sampling, or None.
        stop: Texts that end the answer.
        extra: Further fields of the request body, sorted by name, values as JSON
            text: what one server knows and others do not.
    """

    max_tokens: int
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """A JSON schema that the answer must follow.

    Attributes:
        name: Letters, digits and underscores.
        schema: The JSON schema, as JSON text with sorted keys.
    """

    name: str
    schema: str


@dataclass(frozen=True)
class Call:
    """One question to one model. Equal calls have equal keys, and are made once.

    Attributes:
        model: Name that skillmap knows the model by: two servers may both serve a
            "default", and those are two models.
        served_name: Name that the server knows it by.
        messages: The chat.
        parameters: How the answer is decoded.
        revision: Version of the model, where its name does not fix it.
        structure: Schema of the answer, or None for free text.
        epoch: Number of the repetition, from 0.
        about: What the caller asks for, such as an item's id; not part of the key.
    """

    model: str
    served_name: str
    messages: tuple[Message, ...]
    parameters: Parameters
    revision: str | None = None
    structure: Structure | None = None
    epoch: int = 0
    about: str = field(default="", compare=False)

    @functools.cached_property
    def key(self) -> str:
        """SHA-256, in hexadecimal, of all that shapes the answer.

        Both names, revision, parameters, messages with images, schema and epoch
        take part, so that neither two models nor two temperatures share an answer.
        The server's address does not: the same model is the same anywhere.
        """
        told = json.dumps(self._identity(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(told.encode("ascii")).hexdigest()

    def _identity(self) -> dict[str, Any]:
        parameters = self.parameters
        return {
            "model": self.model,
            "served_name": self.served_name,
            "revision": self.revision,
            "epoch": self.epoch,
            "structure": self.structure
            and [self.structure.name, self.structure.schema],
            "parameters": {
                name: getattr(parameters, name) for name in parameters.__slots__
            },
            "messages": [
                [m.role, m.content, [[i.media_type, i.base64] for i in m.images]]
                for m in self.messages
            ],
        }
