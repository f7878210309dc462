"""Stands in for vLLM's server: a parent, a child, and a health that comes late."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

_CHILD = """
import signal, sys, time
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("child is up", flush=True)
time.sleep(600)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--served-model-name")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--enforce-eager", action="store_true")
    given, _ = parser.parse_known_args()
    told = given.model / "behaviour"
    behaviour = told.read_text() if told.exists() else "good"
    tell(f"INFO starting as {behaviour}")
    if behaviour == "fails":
        tell("ValueError: the folder holds no model")
        sys.exit(3)
    child = subprocess.Popen([sys.executable, "-c", _CHILD, behaviour])
    (given.model / "processes").write_text(f"{os.getpid()} {child.pid}")
    (given.model / "told").write_text(
        json.dumps({"arguments": sys.argv[1:], "environment": dict(os.environ)})
    )
    if behaviour == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour == "never":
        time.sleep(600)
    time.sleep(0.3)
    HTTPServer(
        (given.host, given.port), handler(given.served_model_name)
    ).serve_forever()


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def handler(name: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = {"/health": b"", "/v1/models": json.dumps({"data": [{"id": name}]})}
            self.send_response(200 if self.path in body else 404)
            self.end_headers()
            told = body.get(self.path, b"")
            self.wfile.write(told if isinstance(told, bytes) else told.encode())

    return Handler


if __name__ == "__main__":
    main()
