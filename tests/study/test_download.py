import gzip
import hashlib
import io
import socket
import tarfile
import threading
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest

from butfor.errors import InputError
from butfor.study.datasets import DATASETS, Dataset, Download, File
from butfor.study.download import bar, download

CONTENT = b"1,2\n" * 5_000
FILES = (File("toy/pairs.csv"),)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        self.server.asked.append(self.path)


class Interrupted(BaseHTTPRequestHandler):
    """Promises more bytes than it sends."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *args):
        pass


def served(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.asked = []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture
def site(tmp_path):
    (tmp_path / "site").mkdir()
    server = served(partial(Quiet, directory=tmp_path / "site"))
    server.folder = tmp_path / "site"
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data"


def data_set(*downloads, files=FILES, **changes):
    return Dataset(
        **{
            "name": "toy",
            "kind": "behaviour",
            "target": "",
            "citation": "",
            "licence": "",
            "homepage": "https://example.org",
            "share": 0.2,
            "read": lambda folder: None,
            "files": files,
            "downloads": downloads,
            **changes,
        }
    )


def zipped(names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, CONTENT)
    return packed.getvalue()


def tarred(names):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(CONTENT)
            archive.addfile(member, io.BytesIO(CONTENT))
    return packed.getvalue()


def left_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


PACKED = {
    "pairs.csv": (CONTENT, "toy/pairs.csv", ""),
    "all.zip": (zipped(["toy/pairs.csv", "toy/readme"]), ".", "zip"),
    "all.tar.gz": (tarred(["pairs.csv"]), "toy", "tar"),
    "pairs.csv.gz": (gzip.compress(CONTENT), "toy", "gz"),
}


@pytest.mark.parametrize("name", PACKED)
def test_fetches_and_unpacks(name, site, folder):
    packed, to, unpack = PACKED[name]
    (site.folder / name).write_bytes(packed)
    sha256 = hashlib.sha256(packed).hexdigest()
    dataset = data_set(Download(f"{site.url}/{name}", to, sha256, unpack))

    assert download(dataset, folder) == [folder / "toy/pairs.csv"]
    assert (folder / "toy/pairs.csv").read_bytes() == CONTENT
    assert set(left_in(folder)) <= {"toy", "toy/pairs.csv", "toy/readme"}


def test_without_a_known_checksum_and_without_a_word(site, folder, caplog, monkeypatch):
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    (site.folder / "pairs.csv").write_bytes(CONTENT)
    download(data_set(Download(f"{site.url}/pairs.csv", "toy/pairs.csv")), folder)

    assert (folder / "toy/pairs.csv").read_bytes() == CONTENT
    assert "pooch" not in {record.name for record in caplog.records}


def test_fetches_only_what_is_not_there(site, folder):
    for name in ("a.csv", "b.csv"):
        (site.folder / name).write_bytes(CONTENT)
    (folder / "toy").mkdir(parents=True)
    (folder / "toy/a.csv").write_text("mine")
    downloads = [Download(f"{site.url}/{name}", f"toy/{name}") for name in ("a.csv", "b.csv")]
    dataset = data_set(*downloads, files=(File("toy/a.csv"), File("toy/b.csv")))

    assert download(dataset, folder) == download(dataset, folder)
    assert site.asked == ["/b.csv"]
    assert (folder / "toy/a.csv").read_text() == "mine"


class Seen:
    """Counts as pooch tells: chunks first, then anew, all at once."""

    def __init__(self, name):
        self.name, self.total, self.n_bytes, self.closed = name, None, 0, False

    def update(self, n_bytes):
        self.n_bytes += n_bytes

    def reset(self):
        self.n_bytes = 0

    def close(self):
        self.closed = True


def test_progress_sees_all_bytes(site, folder):
    (site.folder / "pairs.csv").write_bytes(CONTENT)
    made = []
    download(
        data_set(Download(f"{site.url}/pairs.csv", "toy/pairs.csv")),
        folder,
        progress=lambda name: made.append(Seen(name)) or made[-1],
    )

    (seen,) = made
    assert (seen.name, seen.total, seen.n_bytes, seen.closed) == ("pairs.csv", 20_000, 20_000, True)


def test_progress_is_closed_after_a_failure(site, folder):
    made = []
    with pytest.raises(InputError):
        download(
            data_set(Download(f"{site.url}/absent.csv", "toy/pairs.csv")),
            folder,
            progress=lambda name: made.append(Seen(name)) or made[-1],
        )

    assert made[0].closed


def test_the_bar_shows_name_and_size(site, folder, capsys):
    (site.folder / "pairs.csv").write_bytes(CONTENT)
    download(data_set(Download(f"{site.url}/pairs.csv", "toy/pairs.csv")), folder, progress=bar)
    out, err = capsys.readouterr()

    assert out == ""
    assert "pairs.csv" in err
    assert "20.0/20.0 kB" in err


def test_wrong_checksum(site, folder):
    (site.folder / "pairs.csv").write_bytes(CONTENT)
    dataset = data_set(Download(f"{site.url}/pairs.csv", "toy/pairs.csv", "0" * 64))

    with pytest.raises(InputError, match=r"pairs\.csv is not the file that was expected"):
        download(dataset, folder)
    assert left_in(folder) == []


def test_wrong_checksum_of_an_unpacked_file(site, folder):
    (site.folder / "all.zip").write_bytes(zipped(["toy/pairs.csv"]))
    dataset = data_set(
        Download(f"{site.url}/all.zip", ".", unpack="zip"), files=(File("toy/pairs.csv", "0" * 64),)
    )

    with pytest.raises(InputError, match=r"toy/pairs\.csv of .* another checksum"):
        download(dataset, folder)
    assert left_in(folder) == []


def test_server_error_names_the_url_and_the_way_by_hand(site, folder):
    url = f"{site.url}/absent.csv"

    with pytest.raises(InputError, match=r"404.*by hand") as caught:
        download(data_set(Download(url, "toy/pairs.csv")), folder)
    assert url in str(caught.value)
    assert left_in(folder) == []


def test_interrupted_transfer_leaves_nothing(folder):
    server = served(Interrupted)
    url = f"http://127.0.0.1:{server.server_port}/pairs.csv"
    try:
        with pytest.raises(InputError, match="could not be fetched"):
            download(data_set(Download(url, "toy/pairs.csv")), folder)
    finally:
        server.shutdown()
        server.server_close()
    assert left_in(folder) == []


def test_refused_connection(folder):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    with pytest.raises(InputError, match="could not be fetched"):
        download(data_set(Download(f"http://127.0.0.1:{port}/pairs.csv", "toy/pairs.csv")), folder)


@pytest.mark.parametrize(
    ("name", "packed", "unpack"),
    [
        ("all.zip", zipped(["toy/pairs.csv", "../outside"]), "zip"),
        ("all.zip", zipped(["toy/pairs.csv", "/outside"]), "zip"),
        ("all.tar.gz", tarred(["toy/pairs.csv", "../outside"]), "tar"),
        ("all.zip", b"no archive", "zip"),
        ("all.tar.gz", tarred(["toy/pairs.csv"])[:40], "tar"),
        ("pairs.csv.gz", gzip.compress(CONTENT)[:40], "gz"),
    ],
    ids=["zip up", "zip absolute", "tar up", "no zip", "half tar", "half gz"],
)
def test_bad_archives_are_refused(name, packed, unpack, site, folder):
    (site.folder / name).write_bytes(packed)
    dataset = data_set(Download(f"{site.url}/{name}", ".", unpack=unpack))

    with pytest.raises(InputError, match=f"must be a sound {unpack} archive"):
        download(dataset, folder)
    assert left_in(folder) == []
    assert not (folder.parent / "outside").exists()


def test_another_content_is_named(site, folder):
    (site.folder / "all.zip").write_bytes(zipped(["renamed/pairs.csv"]))
    dataset = data_set(Download(f"{site.url}/all.zip", ".", unpack="zip"))

    with pytest.raises(InputError, match=r"must contain toy/pairs\.csv, got renamed/pairs\.csv"):
        download(dataset, folder)
    assert left_in(folder) == []


def test_no_download_gives_the_steps(folder):
    with pytest.raises(InputError, match=r"sign up here\. .*toy/pairs\.csv"):
        download(data_set(steps="sign up here."), folder)


def test_files_put_by_hand_need_no_download(folder):
    (folder / "toy").mkdir(parents=True)
    (folder / "toy/pairs.csv").write_bytes(CONTENT)

    assert download(data_set(steps="sign up here."), folder) == [folder / "toy/pairs.csv"]


def test_private_data_cannot_be_fetched(folder):
    with pytest.raises(InputError, match="private"):
        download(DATASETS["fraud"], folder)
