"""An explainer for other processes: packed once into a folder, which may be copied to other machines."""

from pathlib import Path

from butfor import Explainer, InputError
from butfor._processes.sharing import share, shared

_FILE = "explainer"


def pack(explainer: Explainer, folder: str) -> None:
    """Make a folder and write an explainer into it."""
    try:
        Path(folder).mkdir()
        share(explainer, Path(folder) / _FILE)
    except OSError as error:
        raise InputError(
            f"TMPDIR must be a folder with room for a copy of MODEL, got {Path(folder).parent}: "
            f"{error.strerror or error}. Set it to another folder."
        ) from error
    except Exception as error:
        raise InputError(
            "MODEL must be one that can be pickled, as other processes are to ask it, got one that cannot: "
            f"{type(error).__name__}: {error}"
        ) from error


def unpacked(folder: str) -> Explainer:
    """Return the explainer in a folder, the same at every call; processes of one machine share its arrays."""
    explainer: Explainer = shared(Path(folder) / _FILE)
    return explainer
