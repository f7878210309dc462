"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Where everything is kept. Default: $SKILLMAP_HOME, or .skillmap here.",
    ),
]
