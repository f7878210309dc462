"""Views that answer an analyst's first questions in one line."""

from dataclasses import dataclass

from skillmap import sql


@dataclass(frozen=True)
class View:
    """A documented query published under ``mart``; its text is in ``sql/views``."""

    name: str

    @property
    def query(self) -> str:
        """The ``select`` that the view stands for."""
        return sql.load(f"views/{self.name}")

    @property
    def description(self) -> str:
        """The comment at the head of the query, as one paragraph."""
        return sql.description(f"views/{self.name}")

    def ddl(self) -> tuple[str, str]:
        """``create view`` and its comment."""
        text = self.description.replace("'", "''")
        return (
            f"create view mart.{self.name} as {self.query}",
            f"comment on view mart.{self.name} is '{text}'",
        )


# In the order they are made: later ones read earlier ones.
VIEWS = tuple(
    View(name)
    for name in (
        "item_scores",
        "common_scores",
        "weakest_slices",
        "slice_differences",
        "slice_disagreements",
    )
)
