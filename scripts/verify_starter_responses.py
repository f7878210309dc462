"""Ask SmolLM2 the starter suite live, and compare with what was recorded.

About 12 minutes of one core for the three modes. Run from the repository's root in
the environment that ``make torch`` makes::

    python -m scripts.verify_starter_responses --cache FOLDER

It ends with exit code 1 if a response differs from the recorded one.
"""

import argparse
import sys
import time
from pathlib import Path

from scripts.record_starter_responses import MODES, Mode
from scripts.starter_calls import is_as_recorded, recorded_responses, starter_calls
from skillmap.calls import Reply
from skillmap_dagster.resources.language_models.local_model import LocalModel
from skillmap_dagster.resources.language_models.smollm2 import smollm2_folder


def main() -> int:
    """Ask every item in every mode that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    names = [mode.name for mode in MODES]
    parser.add_argument("--modes", nargs="+", choices=names, default=names)
    given = parser.parse_args()
    model = LocalModel(folder=smollm2_folder(given.cache), device="cpu")
    n_different = [
        _n_different(mode, model) for mode in MODES if mode.name in given.modes
    ]
    return 1 if any(n_different) else 0


def _n_different(mode: Mode, model: LocalModel) -> int:
    calls = starter_calls(mode, served_name="smollm2")
    recorded = recorded_responses(mode)
    replies: dict[str, Reply] = {}
    wall, cpu = time.monotonic(), time.process_time()
    model.transmit(calls, lambda reply: replies.update({reply.key: reply}))
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    different = [
        call
        for call in calls
        if not is_as_recorded(call, replies[call.key], recorded[call.about])
    ]
    for call in different:
        _tell(f"{mode.name} {call.about}: {replies[call.key]}")
    n_same = len(calls) - len(different)
    _tell(
        f"{mode.name}: {n_same} of {len(calls)} live responses are the recorded ones "
        f"({cpu:.0f} s of CPU, {wall:.0f} s)"
    )
    return len(different)


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
