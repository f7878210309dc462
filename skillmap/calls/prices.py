"""What tokens cost, as the user says: no price comes with skillmap."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from skillmap.errors import InvalidInputError

_PER_MILLION = 1e-6


class Price(BaseModel):
    """USD for a million tokens.

    Attributes:
        prompt: Of the prompt.
        completion: Of the answer, reasoning included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: float = Field(ge=0, allow_inf_nan=False)
    completion: float = Field(ge=0, allow_inf_nan=False)


_TABLE = TypeAdapter(dict[str, Price])


@dataclass(frozen=True)
class Prices:
    """A price table.

    Attributes:
        by_model: Price by the name that skillmap knows the model by.

    Examples:
        >>> prices = Prices({"small": Price(prompt=1, completion=4)})
        >>> prices.cost("small", 500_000, 250_000)
        1.5
        >>> prices.cost("other", 500_000, 250_000) is None
        True
    """

    by_model: Mapping[str, Price] = field(default_factory=dict[str, Price])

    @classmethod
    def read(cls, file: Path) -> Self:
        """The prices of a YAML file: ``model: {prompt: 0.5, completion: 1.5}``.

        Raises:
            InvalidInputError: If the file is not in that form.
        """
        try:
            return cls(_TABLE.validate_python(yaml.safe_load(file.read_text("utf-8"))))
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()
            ]
            raise InvalidInputError(f"{file}: {'; '.join(wrong)}") from error
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InvalidInputError(f"{file}: {error}") from error

    def cost(
        self, model: str, n_prompt_tokens: int | None, n_completion_tokens: int | None
    ) -> float | None:
        """USD of that many tokens; None where a price or a count is not known."""
        price = self.by_model.get(model)
        if price is None or n_prompt_tokens is None or n_completion_tokens is None:
            return None
        spent = n_prompt_tokens * price.prompt + n_completion_tokens * price.completion
        return spent * _PER_MILLION
