"""The SQL of the warehouse: one ``select`` per file, named for what it yields."""

from importlib import resources


def load(name: str) -> str:
    """The query in ``<name>.sql``, such as ``mart/cell_counts``."""
    return resources.files(__name__).joinpath(f"{name}.sql").read_text("utf-8")


def names(folder: str) -> list[str]:
    """Names of the queries in ``folder``, sorted, without the folder."""
    files = resources.files(__name__).joinpath(folder).iterdir()
    return sorted(f.name.removesuffix(".sql") for f in files if f.name[-4:] == ".sql")
