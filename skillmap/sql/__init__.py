"""The SQL of the warehouse: one ``select`` per file, named for what it yields."""

import itertools
from importlib import resources


def load(name: str) -> str:
    """The query in ``<name>.sql``, such as ``mart/cell_counts``."""
    return resources.files(__name__).joinpath(f"{name}.sql").read_text("utf-8")


def description(name: str) -> str:
    """The comment at the head of the query, as one paragraph; "" without one."""
    head = itertools.takewhile(lambda line: line[:2] == "--", load(name).splitlines())
    return " ".join(line.removeprefix("--").strip() for line in head)


def names(folder: str) -> list[str]:
    """Names of the queries in ``folder``, sorted, without the folder."""
    files = resources.files(__name__).joinpath(folder).iterdir()
    return sorted(f.name.removesuffix(".sql") for f in files if f.name[-4:] == ".sql")
