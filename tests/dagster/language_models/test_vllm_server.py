import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from skillmap.errors import InvalidInputError, ServiceError
from skillmap_dagster.resources.language_models import vllm_server
from skillmap_dagster.resources.language_models.vllm_server import (
    ServedModel,
    VllmServer,
    attached,
)
from tests.dagster.language_models.isolated import (
    are_soon_gone,
    is_gone,
    make_interpreter,
    wait_for,
)


@pytest.fixture
def server(tmp_path: Path) -> VllmServer:
    folder = tmp_path / "model"
    folder.mkdir()
    return VllmServer(
        folder=folder,
        interpreter=make_interpreter(tmp_path),
        served_name="small",
        start_seconds=60,
        grace_seconds=0.5,
    )


def processes(server: VllmServer) -> list[int]:
    return [int(pid) for pid in wait_for(server.folder / "processes").split()]


def behave(server: VllmServer, behaviour: str) -> VllmServer:
    (server.folder / "behaviour").write_text(behaviour)
    return server


def test_a_server_answers_inside_the_block_and_is_gone_after_it(
    server: VllmServer,
) -> None:
    with server.running() as served:
        assert attached(served.base_url, "small") == ServedModel(
            served.base_url, "small"
        )
        running = processes(server)
        assert served.base_url.startswith("http://127.0.0.1:")
        assert served.served_name == "small"
        assert served.device is not None
        assert served.device.name == "cpu"

    assert all(map(is_gone, running))


def test_it_is_started_for_the_cpu_without_our_keys(
    server: VllmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "3")
    with server.running():
        told = json.loads((server.folder / "told").read_text())

    environment, arguments = told["environment"], told["arguments"]
    assert "SOME_API_KEY" not in environment
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert environment["VLLM_CPU_KVCACHE_SPACE"] == "3"
    assert arguments[arguments.index("--dtype") + 1] == "float32"
    assert arguments[arguments.index("--host") + 1] == "127.0.0.1"
    assert "--enforce-eager" in arguments


def test_options_of_ones_own_go_before_ours_but_not_before_the_address(
    server: VllmServer,
) -> None:
    options = {"max_num_seqs": 4, "enforce_eager": False, "host": "0.0.0.0"}  # noqa: S104
    with replace(server, options=options).running():
        arguments = json.loads((server.folder / "told").read_text())["arguments"]

    assert arguments[arguments.index("--max-num-seqs") + 1] == "4"
    assert "--enforce-eager" not in arguments
    assert arguments[arguments.index("--host") + 1] == "127.0.0.1"


def test_a_server_that_ends_tells_its_last_lines(server: VllmServer) -> None:
    with (
        pytest.raises(ServiceError, match=r"exit code 3(.|\n)*holds no model"),
        behave(server, "fails").running(),
    ):
        pass


def test_a_server_that_is_never_ready_is_ended(
    server: VllmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "_SECONDS_BETWEEN_WORDS", 0.5)
    waits: list[tuple[float, str]] = []
    slow = replace(behave(server, "never"), start_seconds=6)
    with (
        pytest.raises(ServiceError, match=r"not ready after 6 seconds"),
        slow.running(lambda *told: waits.append(told)),
    ):
        pass

    assert all(map(is_gone, processes(server)))
    assert 2 <= len(waits) <= 12
    assert waits[-1][1] == "child is up"
    assert waits == sorted(waits, key=lambda wait: wait[0])


def test_a_server_that_does_not_end_when_asked_is_killed(server: VllmServer) -> None:
    with behave(server, "stubborn").running():
        running = processes(server)

    assert all(map(is_gone, running))


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_a_server_is_gone_after_an_error_in_the_block(
    server: VllmServer, raised: type[BaseException]
) -> None:
    with pytest.raises(raised), server.running():
        raise raised

    assert all(map(is_gone, processes(server)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_server_is_gone_after_its_user_was_killed(
    server: VllmServer, number: signal.Signals
) -> None:
    told = f"""
import time
from pathlib import Path
from skillmap_dagster.resources.language_models.vllm_server import VllmServer
server = VllmServer(folder=Path({str(server.folder)!r}), served_name="small",
                    interpreter=Path({str(server.interpreter)!r}), grace_seconds=0.5)
with server.running():
    Path({str(server.folder / "ready")!r}).write_text("yes")
    time.sleep(600)
"""
    command = [sys.executable, "-c", told]
    user = subprocess.Popen(
        command, cwd=Path(__file__).parents[3], stderr=subprocess.DEVNULL
    )
    wait_for(server.folder / "ready")
    user.send_signal(number)
    user.wait()

    assert are_soon_gone(processes(server))


def test_an_interpreter_that_is_not_there_is_named(server: VllmServer) -> None:
    lost = replace(server, interpreter=Path("/nowhere/python"))

    with pytest.raises(InvalidInputError, match="/nowhere/python"), lost.running():
        pass


class Strange(BaseHTTPRequestHandler):
    """Serves "large" under /v1, wants a key under /key, and talks HTML elsewhere."""

    def do_GET(self) -> None:
        answers = {"/v1/models": b'{"data": [{"id": "large"}, {"id": "huge"}]}'}
        key = self.headers.get("Authorization")
        if self.path == "/key/v1/models" and key != "Bearer right":
            self.send_error(401, explain=f"wrong key {key}")
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(
            answers.get(self.path.removeprefix("/key"), b"<html>hello</html>")
        )

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def elsewhere() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Strange) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_server_that_runs_is_asked_what_it_serves(elsewhere: str) -> None:
    assert attached(f"{elsewhere}/v1", "large").served_name == "large"
    assert attached(f"{elsewhere}/v1/", "huge", api_key="any").device is None
    assert attached(f"{elsewhere}/key/v1", "huge", api_key="right")

    with pytest.raises(InvalidInputError, match=r"no 'small', but large, huge"):
        attached(f"{elsewhere}/v1", "small")
    with pytest.raises(InvalidInputError, match="does not tell its models"):
        attached(f"{elsewhere}/other", "large")


def test_no_error_holds_a_key(elsewhere: str) -> None:
    with pytest.raises(ServiceError, match="HTTP 401") as caught:
        attached(f"{elsewhere}/key/v1", "large", api_key="abc123")

    assert "abc123" not in str(caught.value)
    with pytest.raises(InvalidInputError) as caught_address:
        attached("http://me:abc123@127.0.0.1/v1", "large")
    assert "abc123" not in str(caught_address.value)


@pytest.mark.parametrize(
    "address", ["ftp://127.0.0.1/v1", "127.0.0.1:80", "file:///etc"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInputError, match="http or https"):
        attached(address, "large")


def test_where_nothing_runs_the_error_says_so() -> None:
    with pytest.raises(ServiceError, match="no answer"):
        attached("http://127.0.0.1:9/v1", "large")
