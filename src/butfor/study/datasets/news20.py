"""20 Newsgroups: posts of 1993; positive are those in alt.atheism."""

import re
import tarfile
from pathlib import Path

import numpy as np

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.text import text_data

_ARCHIVE = "20news-bydate.tar.gz"
_QUOTING = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^[|>]")


def documents(folder: Path) -> tuple[list[str], list[bool]]:
    """Return the posts without headers, signatures and quotations, and which are in alt.atheism."""
    posts = _posts(folder / _ARCHIVE)
    names = _in_order(list(posts))
    texts = [without_quotations(without_signature(without_header(posts[name]))) for name in names]
    return texts, [name.split("/")[1] == "alt.atheism" for name in names]


def read(folder: Path) -> Data:
    """Read the posts without what reveals the newsgroup."""
    return text_data(*documents(folder), folder)


def without_header(post: str) -> str:
    """Return a post without everything up to the first empty line."""
    return post.partition("\n\n")[2]


def without_signature(post: str) -> str:
    """Return a post without what follows the last line that is empty or made of hyphens."""
    lines = post.strip().split("\n")
    borders = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    # Below a border in the first line is the whole post, not a signature.
    return "\n".join(lines[: borders[-1]]) if borders and borders[-1] > 0 else post


def without_quotations(post: str) -> str:
    """Return a post without quoted lines and without lines that name who is quoted."""
    return "\n".join(line for line in post.split("\n") if not _QUOTING.search(line))


def _posts(archive: Path) -> dict[str, str]:
    """Return the posts by name: folder/newsgroup/number."""
    posts = {}
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member)
            if content is not None:
                posts[member.name] = content.read().decode("latin-1")
    return posts


def _in_order(names: list[str]) -> list[str]:
    """Return the names in the order of scikit-learn's fetch_20newsgroups; the split depends on it."""
    train = sorted(name for name in names if "-train/" in name)
    test = sorted(name for name in names if "-test/" in name)
    return _shuffled(_shuffled(train, seed=0) + _shuffled(test, seed=0), seed=42)


def _shuffled(names: list[str], *, seed: int) -> list[str]:
    return [names[i] for i in np.random.RandomState(seed).permutation(len(names))]


DATASET = Dataset(
    name="20news",
    kind="text",
    target="posted to alt.atheism",
    citation=(
        "K. Lang (1995). NewsWeeder: learning to filter netnews. Proceedings of the 12th International"
        " Conference on Machine Learning."
    ),
    licence="not stated",
    homepage="http://qwone.com/~jason/20Newsgroups/",
    share=0.05,
    read=read,
    files=(File(_ARCHIVE),),
    downloads=(
        Download(
            url="http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
            to=_ARCHIVE,
            sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        ),
    ),
)
