"""JSON schemas that answers must follow, in the form that servers take."""

import json
from collections.abc import Mapping
from typing import Any

from skillmap.calls import Structure


def structure_of(name: str, schema: Mapping[str, Any]) -> Structure:
    """A schema as the part of a call that it is, its keys sorted."""
    return Structure(name, json.dumps(schema, sort_keys=True))


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Schema of an object that has exactly these members, as strict servers ask."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Schema of an array of such values."""
    return {"type": "array", "items": dict(schema)}
