"""Object stores: which file systems are some, and what their clients raise, as errors of storage."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from butfor.errors import error_text

OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss"})
"""What fsspec calls the stores that have no folders, and in which a file that is written appears whole."""
CLIENTS = frozenset({"aiobotocore", "aiohttp", "azure", "boto3", "botocore", "gcsfs", "google", "urllib3"})
"""The packages whose errors are about a store, such as one that cannot be reached, or a missing key."""


def is_object_store(fs: Any) -> bool:
    """Return whether a file system of fsspec is an object store."""
    names = getattr(fs, "protocol", ())
    return not OBJECT_STORES.isdisjoint([names] if isinstance(names, str) else names)


def is_of_client(error: BaseException) -> bool:
    """Return whether an error was raised by the client of a store.

    >>> is_of_client(ValueError("no number"))
    False
    """
    return type(error).__module__.partition(".")[0] in CLIENTS


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn what the clients of stores raise into an OSError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) or not is_of_client(error):
            raise
        raise OSError(error_text(error)) from error
