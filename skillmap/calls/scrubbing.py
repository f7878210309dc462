"""Texts of others, without what must not be kept."""

import re
from collections.abc import Iterable
from urllib.parse import quote

# Shorter keys are such as "EMPTY", which local servers ask for: words, not secrets.
_SHORTEST_SECRET = 8
_MOST_CHARACTERS = 500
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>)\]}]+", re.IGNORECASE)
# A key that a server has half hidden before it tells it, and headers that hold one.
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]{4,}|\bBearer\s+[^\s'\",;]{4,}", re.IGNORECASE)


class Scrubber:
    """Takes secrets out of texts.

    Args:
        secrets: Keys that must appear nowhere; those under eight characters are taken
            for words.

    Examples:
        >>> scrub = Scrubber(["my-secret-key"])
        >>> scrub.text("the key is my-secret-key")
        'the key is [key]'
        >>> scrub.error("401 at https://me:pass@api.example/v1: Bearer abcdef")
        '401 at [address] [key]'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        long = {s for s in secrets if len(s) >= _SHORTEST_SECRET}
        forms = long | {quote(s, safe="") for s in long}
        self._secrets = sorted(forms, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Scrubber({len(self._secrets)} secrets)"

    def finds(self, text: str) -> bool:
        """Whether there is a secret in ``text``."""
        return any(secret in text for secret in self._secrets)

    def text(self, text: str) -> str:
        """``text`` without the secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, "[key]")
        return text

    def error(self, text: str) -> str:
        """A reason on one line: no secrets, no addresses, not too long."""
        shown = _KEY_LIKE.sub("[key]", self.text(text))
        line = " ".join(_ADDRESS.sub("[address]", shown).split())
        cut = line[: _MOST_CHARACTERS - 1] + "…"
        return line if len(line) <= _MOST_CHARACTERS else cut
