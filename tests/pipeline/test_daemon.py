"""The real thing: webserver and daemon as the README starts them, over GraphQL."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skillmap.contracts import mart
from skillmap_dagster.resources.lake import Lake
from skillmap_dagster.resources.language_models.configuration import (
    LanguageModel,
    Responder,
)
from skillmap_dagster.resources.settings import Settings
from tests.dagster.language_models.misbehaving_server import serving
from tests.pipeline.places import made_once
from tests.pipeline.sources import N_ITEMS, Contents, contents, stamps

REPOSITORY = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
CELL_TABLES = ["eval_runs", "responses", "scores"]
MOST_SECONDS = 240
FINISHED = {"COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED"}

BACKFILL = """
mutation Backfill($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}"""
BACKFILL_STATUS = """
query BackfillStatus($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    __typename
    ... on PartitionBackfill { status }
  }
}"""
RUN = """
mutation Run($params: ExecutionParams!) {
  launchPipelineExecution(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { id } }
    ... on PythonError { message }
  }
}"""
RUN_STATUS = """
query RunStatus($id: ID!) {
  runOrError(runId: $id) { ... on Run { status } }
}"""
RUNS = """
query Runs($filter: RunsFilter!) {
  runsOrError(filter: $filter) {
    ... on Runs { results { status tags { key value } } }
  }
}"""
CHECK = """
query Check($key: AssetKeyInput!, $partition: String!) {
  assetCheckExecutions(
    assetKey: $key, checkName: "contract", partition: $partition, limit: 1
  ) {
    status
    partition
    evaluation { metadataEntries { label ... on TextMetadataEntry { text } } }
  }
}"""

PARTITIONS = """
query Partitions($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) { ... on AssetNode { partitionKeys } }
}"""

Ask = Callable[..., Any]


def without_variables() -> dict[str, str]:
    """The environment of someone who set nothing."""
    ours = ("DAGSTER_HOME", "SKILLMAP_HOME")
    return {name: value for name, value in os.environ.items() if name not in ours}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port: int, query: str, **variables: object) -> dict[str, Any]:
    """The data of a GraphQL answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"query": query, "variables": variables})
    connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert "errors" not in answer, answer["errors"]
    return answer["data"]


def wait_for(is_done: Callable[[], bool], what: str, told: Path) -> None:
    end = time.monotonic() + MOST_SECONDS
    while not is_done():
        if time.monotonic() > end:
            pytest.fail(f"no {what} in {MOST_SECONDS} s: {told.read_text()[-3000:]}")
        time.sleep(0.5)


@contextmanager
def dagster_dev(folder: Path) -> Iterator[Ask]:
    """`dagster dev` in a folder, and how to ask it; all its processes end with it."""
    port, told = free_port(), folder / "dagster-dev.log"
    command = [BIN / "dagster", "dev", "-w", "workspace.yaml", "-p", str(port)]
    with told.open("wb") as log:
        process = subprocess.Popen(
            [*command, "-h", "127.0.0.1"],
            cwd=folder,
            env=without_variables(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def is_up() -> bool:
        try:
            return bool(ask(port, "{ version }"))
        except (OSError, http.client.HTTPException):
            return False

    try:
        wait_for(is_up, "webserver", told)
        yield lambda query, **variables: ask(port, query, **variables)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _kill_what_is_left(process.pid)
            process.wait()


def _kill_what_is_left(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def started(
    query: Ask, tables: list[str], keys: list[str], *, schema: str = "core"
) -> str:
    """The id of a backfill of some partitions of some tables."""
    selection = [{"path": [schema, table]} for table in tables]
    params = {"assetSelection": selection, "partitionNames": keys}
    launched = query(BACKFILL, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    return launched["backfillId"]


def launched(query: Ask, job: str, benchmark: str, model: str) -> str:
    """The id of a run of a job for one cell, as the UI launches it."""
    tags = {
        "dagster/partition": f"{benchmark}|{model}",
        "dagster/partition/benchmark": benchmark,
        "dagster/partition/model": model,
    }
    selector = {
        "repositoryLocationName": "skillmap",
        "repositoryName": "__repository__",
        "pipelineName": job,
    }
    told = [{"key": key, "value": value} for key, value in tags.items()]
    params = {"selector": selector, "executionMetadata": {"tags": told}}
    found = query(RUN, params=params)["launchPipelineExecution"]
    assert found["__typename"] == "LaunchRunSuccess", found
    return found["run"]["id"]


def models(query: Ask) -> list[str]:
    """The models that can be chosen for a backfill."""
    key = {"path": ["core", "models"]}
    found = query(PARTITIONS, key=key)["assetNodeOrError"]
    return found["partitionKeys"]


def of_partitions(found: Contents) -> Contents:
    """What is there of tables that have partitions."""
    return {part: content for part, content in found.items() if part[1]}


def configure_a_model(home: Path, model: str, url: str) -> None:
    """What a person writes in the settings to have a model evaluated."""
    settings = Settings(file=str(home / "settings.yaml"))
    asked = {"loop": LanguageModel(base_url=url)}
    responders = {model: Responder(language_model="loop")}
    update = {"language_models": asked, "responders": responders}
    settings.write(settings.read().model_copy(update=update))


def status(query: Ask, backfill_id: str) -> str:
    return query(BACKFILL_STATUS, id=backfill_id)["partitionBackfillOrError"]["status"]


def run_status(query: Ask, run_id: str) -> str:
    return query(RUN_STATUS, id=run_id)["runOrError"]["status"]


def runs(query: Ask, backfill_id: str) -> dict[str, str]:
    """Status of the backfill's runs, by partition."""
    tags = [{"key": "dagster/backfill", "value": backfill_id}]
    found = query(RUNS, filter={"tags": tags})["runsOrError"]["results"]
    by_tag = [({tag["key"]: tag["value"] for tag in run["tags"]}, run) for run in found]
    return {tags["dagster/partition"]: run["status"] for tags, run in by_tag}


def last_check(query: Ask, partition: str) -> dict[str, Any]:
    """The last check of a cell's contract, as the UI shows it."""
    key = {"path": ["core", "eval_runs"]}
    (check,) = query(CHECK, key=key, partition=partition)["assetCheckExecutions"]
    return check


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_model_is_backfilled_another_asked_and_a_broken_file_shown(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sources = _folder_with_a_home(tmp_path_factory.getbasetemp(), tmp_path)
    lake = Lake(root=str(tmp_path / ".skillmap" / "lake"))
    before, before_on_disk = contents(lake), stamps(lake)
    log = tmp_path / "dagster-dev.log"

    with serving() as server, dagster_dev(tmp_path) as query:
        # What the command line made is in the same history.
        assert last_check(query, "charts|bob")["status"] == "SUCCEEDED"

        made = started(query, CELL_TABLES, ["charts|ada", "sums|ada"])
        named = started(query, ["models"], ["ada"])
        wait_for(
            lambda: {status(query, made), status(query, named)} <= FINISHED,
            "end of the backfills",
            log,
        )

        assert status(query, made) == status(query, named) == "COMPLETED_SUCCESS"
        assert runs(query, made) == {"charts|ada": "SUCCESS", "sums|ada": "SUCCESS"}
        assert runs(query, named) == {"ada": "SUCCESS"}
        after = stamps(lake)
        remade = {part for part in after if after[part] != before_on_disk[part]}
        assert {part for part in remade if part[1]} == {
            *(
                (f"core.{t}", (b, "ada"))
                for t in CELL_TABLES
                for b in ("charts", "sums")
            ),
            ("core.models", ("ada",)),
        }
        assert contents(lake) == before

        configure_a_model(tmp_path / ".skillmap", "eve", server.url)
        wait_for(lambda: "eve" in models(query), "partition of eve", log)
        asked = started(
            query, ["model_replies"], ["charts|eve", "sums|eve"], schema="raw"
        )
        wait_for(lambda: status(query, asked) in FINISHED, "end of the asking", log)

        assert status(query, asked) == "COMPLETED_SUCCESS"
        assert len(server.asked) == 2 * N_ITEMS
        wait_for(
            lambda: lake.read(mart.MODEL_ACCURACY).height == 6, "marts of eve", log
        )
        before = contents(lake)

        file = sources / "sums-ada.jsonl"
        file.write_bytes(file.read_bytes()[:-40])
        run_id = launched(query, "import_results", "sums", "ada")
        wait_for(
            lambda: run_status(query, run_id) in {"FAILURE", "SUCCESS", "CANCELED"},
            "end of the run",
            log,
        )

        assert run_status(query, run_id) == "FAILURE"
        # The sensor has seen the broken file too, and may have a run under way.
        wait_for(
            lambda: last_check(query, "sums|ada")["status"] != "IN_PROGRESS",
            "check",
            log,
        )
        check = last_check(query, "sums|ada")
        assert (check["status"], check["partition"]) == ("FAILED", "sums|ada")
        (reason,) = [
            entry["text"]
            for entry in check["evaluation"]["metadataEntries"]
            if entry["label"] == "reason"
        ]
        assert "sums-ada.jsonl: the last line, record 11, is cut off" in reason
        assert last_check(query, "charts|ada")["status"] == "SUCCEEDED"
        # The marts over all partitions may still be following eve.
        assert of_partitions(contents(lake)) == of_partitions(before)


def _folder_with_a_home(base: Path, folder: Path) -> Path:
    """What a checkout has, with a home that the command line uses by default.

    Returns:
        The folder of the imported files.
    """
    made = made_once(base)
    for name in ("workspace.yaml", "dagster.yaml"):
        shutil.copy(REPOSITORY / name, folder)
    shutil.copytree(made / "home", folder / ".skillmap")
    imported = subprocess.run(
        [BIN / "skillmap", "import", made / "sources"],
        cwd=folder,
        env=without_variables(),
        capture_output=True,
        check=False,
        text=True,
    )
    assert imported.returncode == 0, imported.stderr
    assert "4 unchanged files" in imported.stdout
    # The published file says where it is, so it alone is made anew.
    assert "1 runs, 0 failures" in imported.stdout
    return made / "sources"
