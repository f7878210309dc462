"""A tokenizer of words that behaves as those of transformers do."""

import re
from collections.abc import Sequence
from typing import Any

BEGIN, END, TURN = "<s>", "</s>", "<turn>"


class WordTokenizer:
    """One token a word or sign, and three special ones."""

    def __init__(
        self, *, begin: str | None = BEGIN, template: str | None = "{turn}{text}{end}"
    ) -> None:
        self.bos_token = begin
        self.chat_template = template
        self._ids: dict[str, int] = {BEGIN: 0, END: 1, TURN: 2}
        self.bos_token_id = None if begin is None else 0
        self.all_special_ids = [0, 1, 2]

    def apply_chat_template(
        self, messages: Sequence[dict[str, str]], **_: object
    ) -> str:
        text = messages[0]["content"]
        if text == "refused":
            raise ValueError("the template refuses it")
        shown = self.chat_template or ""
        return (self.bos_token or "") + shown.format(
            turn=TURN, text=text, stripped=text.strip(), end=END, nothing=""
        )

    def __call__(
        self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool
    ) -> dict[str, Any]:
        assert not add_special_tokens
        assert return_offsets_mapping
        found = list(re.finditer(r"</?s>|<turn>|\w+|[^\w\s]", text))
        return {
            "input_ids": [
                self._ids.setdefault(m.group(), len(self._ids)) for m in found
            ],
            "offset_mapping": [m.span() for m in found],
        }

    def words(self, ids: Sequence[int]) -> list[str]:
        names = {number: word for word, number in self._ids.items()}
        return [names[number] for number in ids]
