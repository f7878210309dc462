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
Paths = Annotated[
    list[Path],
    typer.Argument(help="Result files, folders of them, or one manifest (.yaml)."),
]
Root = Annotated[
    Path | None,
    typer.Option(help="Folder that a manifest's paths are in. Default: its own."),
]
Benchmark = Annotated[
    str | None, typer.Option(help="The benchmark, where the files do not name it.")
]
Model = Annotated[
    str | None, typer.Option(help="The model, where the files do not name it.")
]
Format = Annotated[
    str | None, typer.Option("--format", help="The files' format, if not to be found.")
]
Annotator = Annotated[
    str | None, typer.Option(help="Who named the skills, where the files do not say.")
]
