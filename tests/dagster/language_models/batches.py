"""The batch interface of the test server, which shuffles and spoils what it returns."""

import json
import random
import re
from collections.abc import Callable
from email.message import Message
from typing import Any

Spoil = Callable[[list[bytes]], list[bytes]]
Row = Callable[[dict[str, Any]], dict[str, Any]]


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The row of a request that went well."""
    content = f"about {request['body']['messages'][-1]['content']}"
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    body = {"model": "loopback-1", "choices": [choice], "usage": usage}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def failed(request: dict[str, Any], status: int = 400) -> dict[str, Any]:
    """The row of a request that was rejected."""
    body = {"error": {"message": "bad request", "code": "invalid"}}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def lines(rows: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


class Batches:
    """Files and batches by id, and how results are made."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.row: Row = answered
        self.spoil: Spoil = lambda found: found
        self.n_looks_until_done = 1
        self.status = "completed"

    def post(self, path: str, body: bytes, headers: Message) -> bytes:
        if path == "/v1/files":
            name = f"file-{len(self.files)}"
            self.files[name] = _uploaded(body, headers)
            return json.dumps(_file(name, len(body))).encode()
        assert path == "/v1/batches"
        told = json.loads(body)
        name = f"batch_{len(self.batches)}"
        self.batches[name] = _batch(name, told)
        return json.dumps(self.batches[name]).encode()

    def get(self, path: str) -> bytes | None:
        name = path.split("?", maxsplit=1)[0].removeprefix("/v1/")
        if name == "batches":
            found = list(self.batches.values())
            return json.dumps(
                {"object": "list", "data": found, "has_more": False}
            ).encode()
        if name.startswith("files/"):
            return self.files.get(name.split("/")[1])
        batch = self.batches.get(name.removeprefix("batches/"))
        if batch is None:
            return None
        batch["n_looks"] += 1
        if batch["n_looks"] > self.n_looks_until_done:
            self._finish(batch)
        return json.dumps(batch).encode()

    def _finish(self, batch: dict[str, Any]) -> None:
        requests = [
            json.loads(r) for r in self.files[batch["input_file_id"]].splitlines()
        ]
        rows = [self.row(request) for request in requests]
        is_good = [row["response"]["status_code"] == 200 for row in rows]
        for kind, wanted in (("output", True), ("error", False)):
            kept = [r for r, good in zip(rows, is_good, strict=True) if good is wanted]
            random.Random(7).shuffle(kept)  # noqa: S311  any order will do
            name = f"{kind}-of-{batch['id']}"
            if kept:
                self.files[name] = b"\n".join(self.spoil(lines(kept)))
                batch[f"{kind}_file_id"] = name
        batch["status"] = self.status


def _file(name: str, n_bytes: int) -> dict[str, Any]:
    return {
        "id": name,
        "object": "file",
        "bytes": n_bytes,
        "created_at": 1,
        "filename": "requests.jsonl",
        "purpose": "batch",
        "status": "processed",
    }


def _batch(name: str, told: dict[str, Any]) -> dict[str, Any]:
    return {
        **told,
        "id": name,
        "object": "batch",
        "status": "in_progress",
        "created_at": 1,
        "output_file_id": None,
        "error_file_id": None,
        "n_looks": 0,
    }


def _uploaded(body: bytes, headers: Message) -> bytes:
    """The file in a form that was sent as parts."""
    boundary = re.findall(r'boundary="?([^";]+)', headers["content-type"])[0].encode()
    for part in body.split(b"--" + boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b'name="file"' in head:
            return content.removesuffix(b"\r\n")
    raise AssertionError("no file was sent")
