"""Texts as the tokens that a model reads, and which of them count."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from skillmap.concepts.encoding.identity import CONTENT, TokenPolicy
from skillmap.errors import InvalidInputError
from skillmap.ids import short_hash

Status = Literal["encoded", "empty", "all_special", "error"]
STATUSES: Final[tuple[Status, ...]] = ("encoded", "empty", "all_special", "error")

# A fast tokenizer of transformers, whose type is not known without it.
Tokenizer = Any

# Private characters, which no template and no content holds.
_PLACE: Final = "\ue000\ue001\ue000"


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """What a model reads of one text.

    Attributes:
        status: "encoded" if a token counts; "empty" if there is no text, or none of it
            within the length that is read; "all_special" if the content is nothing but
            special tokens; "error" if the template cannot hold it.
        ids: Tokens up to the last one that counts: what comes after it cannot move it.
        kept: Places of the tokens that count, rising.
        n_tokens: Of the whole rendered text, cut off or not.
        is_truncated: Whether tokens were cut off.
        reason: Why it is an error.
    """

    status: Status
    ids: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    n_tokens: int = 0
    is_truncated: bool = False
    reason: str | None = None


class _Rendered(NamedTuple):
    text: str
    start: int
    end: int


class TextTokenizer:
    """Renders and cuts texts by one policy."""

    def __init__(self, tokenizer: Tokenizer, policy: TokenPolicy) -> None:
        """Read the template once.

        Args:
            tokenizer: A fast tokenizer of transformers.
            policy: Which text is read, and which tokens count.

        Raises:
            InvalidInputError: If the tokenizer has no chat template and one is asked
                for, or the template does not show what it is given.
        """
        self._tokenizer: Final = tokenizer
        self._policy: Final = policy
        self._special: Final = frozenset(tokenizer.all_special_ids)
        if policy.template == "chat" and not tokenizer.chat_template:
            raise InvalidInputError(
                "policy: the tokenizer has no chat template. Use template: plain"
            )
        instructed = policy.instruction.replace(CONTENT, _PLACE)
        before, found, after = self._around(instructed).partition(_PLACE)
        if not found:
            raise InvalidInputError("policy: the template does not show the content")
        self._before: Final = before
        self._after: Final = after

    @property
    def chat_template_hash(self) -> str | None:
        """Hash of the chat template, None where it is not used."""
        if self._policy.template == "plain":
            return None
        return short_hash(str(self._tokenizer.chat_template))

    def tokenised(self, content: str | None) -> TokenisedText:
        """Tokens of one text."""
        if content is None or not content.strip():
            return TokenisedText("empty")
        try:
            rendered = self._rendered(content)
            return self._cut(rendered)
        except Exception as error:  # noqa: BLE001  a template may raise anything
            return TokenisedText("error", reason=f"{type(error).__name__}: {error}")

    def _around(self, text: str) -> str:
        if self._policy.template == "chat":
            return self._tokenizer.apply_chat_template(
                [{"role": "user", "content": text}],
                tokenize=False,
                add_generation_prompt=True,
            )
        return (self._tokenizer.bos_token or "") + text

    def _rendered(self, content: str) -> _Rendered:
        text = self._around(self._policy.instruction.replace(CONTENT, content))
        before, after = self._before, self._after
        # Templates that strip a turn strip what the instruction has around it too.
        if not (text.startswith(before) and text.endswith(after)):
            raise InvalidInputError("the template shows this content in another way")
        return _Rendered(text, len(before), len(text) - len(after))

    def _cut(self, rendered: _Rendered) -> TokenisedText:
        # The template has written the special tokens: adding them would double them.
        encoded = self._tokenizer(
            rendered.text, add_special_tokens=False, return_offsets_mapping=True
        )
        ids: list[int] = encoded["input_ids"]
        self._check_begin(ids)
        spans: Sequence[tuple[int, int]] = encoded["offset_mapping"]
        read = ids[: self._policy.max_length]
        inside = self._inside(rendered, spans[: len(read)])
        kept = [place for place in inside if self._counts(ids[place])]
        n_tokens, is_truncated = len(ids), len(ids) > len(read)
        if not kept:
            status = "all_special" if inside else "empty"
            return TokenisedText(status, n_tokens=n_tokens, is_truncated=is_truncated)
        # Attention looks back only.
        until = tuple(ids[: kept[-1] + 1])
        return TokenisedText("encoded", until, tuple(kept), n_tokens, is_truncated)

    def _inside(
        self, rendered: _Rendered, spans: Sequence[tuple[int, int]]
    ) -> Sequence[int]:
        if self._policy.span == "prompt":
            return range(len(spans))
        return [
            place
            for place, (start, end) in enumerate(spans)
            if start < rendered.end and end > rendered.start and end > start
        ]

    def _counts(self, token: int) -> bool:
        policy = self._policy
        is_wanted = policy.span == "prompt" and policy.special_tokens == "included"
        return is_wanted or token not in self._special

    def _check_begin(self, ids: Sequence[int]) -> None:
        begin = self._tokenizer.bos_token_id
        if begin is not None and list(ids[:2]) == [begin, begin]:
            raise InvalidInputError(
                "the text begins with two tokens that begin a text: its template and "
                "its instruction both write one"
            )


def item_content(question: str | None, choices: Sequence[str] = ()) -> str | None:
    r"""What an item asks: its question, and its options on a line each.

    Options have no letters: those would be the same in every item. A question that
    is not known makes the whole unknown.

    Examples:
        >>> item_content("Which is a fruit?", ["apple", "brick"])
        'Which is a fruit?\napple\nbrick'
    """
    if question is None:
        return None
    return "\n".join([question, *choices])
