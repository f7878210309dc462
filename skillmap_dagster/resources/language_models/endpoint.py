"""A server that speaks the OpenAI interface, and how hard it may be asked."""

import os
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from skillmap.calls import Dialect
from skillmap.errors import InvalidInputError

_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_VARIABLE = "OPENAI_API_KEY"
# Servers of one's own ask for a key only because the interface has one.
_NO_KEY = "EMPTY"


class Endpoint(BaseModel):
    """Where a server is, what it understands, and how hard it may be asked.

    Attributes:
        base_url: Up to and with ``/v1``.
        api_key_variable: Environment variable that holds the key; None where the
            server wants none. OpenAI's own if the address is OpenAI's.
        structure_form: How the server is told the schema of an answer, at first.
        limit_field: Its name for the limit on tokens, at first.
        continues_messages: Whether it goes on with a turn that the prompt began when
            it is told to, as vLLM does.
        max_concurrency: Most calls at once.
        first_concurrency: Calls at once in the beginning.
        requests_per_minute: Most requests in a minute, or None.
        tokens_per_minute: Most tokens in a minute, or None.
        connect_seconds: Longest wait for a connection.
        timeout_seconds: Longest wait for one answer.
        n_tries: Times that a call is tried before it is given up.
        longest_pause_seconds: A server that asks for a longer one is asked no more.
        seed: Of the random part of the waits between tries.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    base_url: str = _OPENAI_URL
    api_key_variable: str | None = None
    structure_form: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    continues_messages: bool = False
    max_concurrency: int = Field(default=16, ge=1, le=1_000)
    first_concurrency: int = Field(default=8, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    connect_seconds: float = Field(default=10, gt=0)
    timeout_seconds: float = Field(default=120, gt=0)
    n_tries: int = Field(default=6, ge=1)
    longest_pause_seconds: float = Field(default=300, ge=0)
    seed: int = 0

    @field_validator("base_url")
    @classmethod
    def _has_no_secret(cls, base_url: str) -> str:
        try:
            parts = urlsplit(base_url)
            _ = parts.port
        except ValueError:
            parts = SplitResult("", "", "", "", "")
        # The address is not repeated: it may hold what must not be told.
        if parts.username is not None or parts.password is not None:
            raise ValueError("an address holds no user and no password")
        if parts.query or parts.fragment:
            raise ValueError("an address holds no ? and no #")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("an address begins with http:// or https:// and a host")
        return base_url.rstrip("/")

    @model_validator(mode="before")
    @classmethod
    def _asks_openai_with_its_key(cls, told: dict[str, Any]) -> dict[str, Any]:
        is_openai = str(told.get("base_url", _OPENAI_URL)).rstrip("/") == _OPENAI_URL
        if is_openai and told.get("api_key_variable") is None:
            return {**told, "api_key_variable": _OPENAI_VARIABLE}
        return told

    @property
    def dialect(self) -> Dialect:
        """What the server understands, as far as it is known beforehand."""
        return Dialect(
            structure_form=self.structure_form,
            limit_field=self.limit_field,
            continues_messages=self.continues_messages,
        )

    @property
    def host(self) -> str:
        """Name of the server, for messages."""
        return urlsplit(self.base_url).hostname or ""

    def key(self) -> str:
        """The key, from the environment.

        Raises:
            InvalidInputError: If the variable holds none.
        """
        if self.api_key_variable is None:
            return _NO_KEY
        key = os.environ.get(self.api_key_variable, "").strip()
        if not key:
            raise InvalidInputError(
                f"the environment variable {self.api_key_variable} holds no key"
            )
        if not (key.isascii() and key.isprintable()):
            raise InvalidInputError(
                f"the key in {self.api_key_variable} has characters that no key has"
            )
        return key
