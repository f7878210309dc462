"""What a person sees of an asset in the UI: counts, columns, rows and a picture."""

import base64
import io
from typing import Any

import dagster as dg
import polars as pl
from matplotlib.figure import Figure

from skillmap.contracts.table import Table
from skillmap_dagster.pictures import Picture
from skillmap_dagster.resources.lake import Lake, Partition

_N_PREVIEWED = 5
_PREVIEW_CHARACTERS = 60


def column_schema(table: Table) -> dg.TableSchema:
    """The contract's columns, as the UI shows them."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=c.name,
                type=c.type,
                description=c.description,
                constraints=dg.TableColumnConstraints(
                    nullable=c.nullable,
                    unique=table.primary_key == (c.name,),
                    other=[c.bounds] if c.bounds else [],
                ),
            )
            for c in table.columns
        ]
    )


def of_rows(
    table: Table,
    partition: Partition,
    rows: pl.DataFrame,
    lake: Lake,
    picture: Picture | None,
) -> dict[str, Any]:
    """Metadata of a partition that was just written."""
    count = "dagster/partition_row_count" if partition else "dagster/row_count"
    told: dict[str, Any] = {
        count: rows.height,
        "dagster/uri": str(lake.file(table, partition)),
        "preview": dg.MetadataValue.md(preview(rows)),
    }
    if picture and rows.height:
        told["picture"] = dg.MetadataValue.md(f"![picture]({png_uri(picture(rows))})")
    return told


def preview(rows: pl.DataFrame) -> str:
    """The first rows as a Markdown table, long values cut."""
    lines = [f"| {' | '.join(rows.columns)} |", "|---" * rows.width + "|"]
    lines += [
        f"| {' | '.join(_cell(value) for value in row)} |"
        for row in rows.head(_N_PREVIEWED).rows()
    ]
    return "\n".join(lines)


def png_uri(figure: Figure) -> str:
    """The figure as a ``data:`` URI."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = text.replace("|", "\\|").replace("\n", " ")
    if len(text) > _PREVIEW_CHARACTERS:
        return text[:_PREVIEW_CHARACTERS] + "…"
    return text
