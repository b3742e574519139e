"""An S3 server of moto in this process, and the settings with which any process finds it."""

import logging
from contextlib import contextmanager

import pytest

WITHOUT = "needs s3fs and moto: `make s3` installs them apart, as they ask for an older python-dateutil"


@contextmanager
def s3_server():
    """Start a server; yield the environment variables of its address, and of a user."""
    pytest.importorskip("s3fs", reason=WITHOUT)
    server = pytest.importorskip("moto.server", reason=WITHOUT).ThreadedMotoServer(
        "127.0.0.1", port=0, verbose=False
    )
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
        }
    finally:
        server.stop()
