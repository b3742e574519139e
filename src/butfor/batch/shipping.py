"""An explainer on its way to other processes: packed once into a folder, which may be sent anywhere."""

from pathlib import Path

from butfor import Explainer, InputError
from butfor.sharing import share, shared

_FILE = "explainer"


def pack(explainer: Explainer, folder: str) -> None:
    """Write an explainer into a folder, which is made; nothing else is in it."""
    Path(folder).mkdir()
    try:
        share(explainer, Path(folder) / _FILE)
    except OSError:
        raise
    except Exception as error:
        raise InputError(
            "MODEL must be one that can be pickled, as other processes are to ask it, got one that cannot: "
            f"{type(error).__name__}: {error}"
        ) from error


def unpacked(folder: str) -> Explainer:
    """Give the explainer of a folder, the same at every call; processes of one machine share its arrays."""
    explainer: Explainer = shared(Path(folder) / _FILE)
    return explainer
