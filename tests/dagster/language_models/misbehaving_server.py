"""A server of chat completions on this machine that does whatever a test tells it."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.dagster.language_models.batches import Batches


@dataclass(frozen=True)
class Asked:
    """A request as it came: its body, the question in it, and the how manieth it is."""

    body: dict[str, Any]
    question: str
    number: int
    number_of_question: int
    authorization: str


@dataclass(frozen=True)
class Answer:
    """What is sent back; ``is_cut`` closes the connection in the middle of it."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    seconds: float = 0.0
    is_cut: bool = False


Behaviour = Callable[[Asked], Answer]


def completion(
    text: object = "ANSWER: B",
    *,
    seconds: float = 0.0,
    **told: Any,  # noqa: ANN401  any JSON
) -> Answer:
    """A completion; ``told`` replaces what else there is in it."""
    message = {"role": "assistant", "content": text, **told.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    choice["finish_reason"] = told.pop("finish_reason", "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    body = {"model": "loopback-1", "choices": [choice], "usage": usage, **told}
    return Answer(json.dumps(body).encode(), seconds=seconds)


def failure(status: int, message: str = "no", **headers: str) -> Answer:
    """An error in the form of the interface; header names with underscores."""
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, status, named)


class Server:
    """What a running server has seen."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.url = ""
        self.asked: list[Asked] = []
        self.batches = Batches()
        self.n_by_question: Counter[str] = Counter()
        self.n_open = self.most_open = 0
        self.turn = threading.Lock()

    def answer(self, body: dict[str, Any], authorization: str) -> Answer:
        content = body["messages"][-1]["content"]
        question = content if isinstance(content, str) else json.dumps(content)
        with self.turn:
            self.n_by_question[question] += 1
            self.n_open += 1
            self.most_open = max(self.most_open, self.n_open)
            n = self.n_by_question[question]
            asked = Asked(body, question, len(self.asked), n, authorization)
            self.asked.append(asked)
        answer = self.behaviour(asked)
        time.sleep(answer.seconds)
        with self.turn:
            self.n_open -= 1
        return answer


class Handler(BaseHTTPRequestHandler):
    """Reads a request, asks the server what to answer, and sends that."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet, or each answer takes 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True
    seen: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/chat/completions":
            authorization = self.headers.get("authorization", "")
            self.send(self.seen.answer(json.loads(body), authorization))
        else:
            self.send(Answer(self.seen.batches.post(self.path, body, self.headers)))

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self.send(Answer(b'{"object": "list", "data": [{"id": "loopback-1"}]}'))
            return
        found = self.seen.batches.get(self.path)
        self.send(failure(404) if found is None else Answer(found))

    def send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", answer.kind)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        cut = len(answer.body) // 2 if answer.is_cut else len(answer.body)
        self.wfile.write(answer.body[:cut])
        self.close_connection |= answer.is_cut

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: object) -> None:
        """A client that was killed leaves its connections as they are."""


@contextmanager
def serving(behaviour: Behaviour = lambda _: completion()) -> Iterator[Server]:
    """A server that runs in threads of this process."""
    server = Server(behaviour)
    http = Quiet(("127.0.0.1", 0), type("Bound", (Handler,), {"seen": server}))
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
