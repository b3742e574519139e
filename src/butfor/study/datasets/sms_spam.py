"""SMS Spam Collection: text messages; positive are those that are spam."""

from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, Download, File
from butfor.study.datasets.text import text_data

_MESSAGES = "sms_spam/SMSSpamCollection"


def documents(folder: Path) -> tuple[list[str], list[bool]]:
    """Return the messages, and which are spam; a line has the label, a tab and the text."""
    lines = (folder / _MESSAGES).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    labels, _, texts = zip(*(line.partition("\t") for line in lines), strict=True)
    return list(texts), [label == "spam" for label in labels]


def read(folder: Path) -> Data:
    """Read the messages."""
    return text_data(*documents(folder), folder)


DATASET = Dataset(
    name="sms_spam",
    kind="text",
    target="spam",
    citation=(
        "T. A. Almeida, J. M. Gómez Hidalgo, A. Yamakami (2011). Contributions to the study of SMS spam"
        " filtering: new collection and results. Proceedings of the 11th ACM Symposium on Document"
        " Engineering."
    ),
    licence="CC BY 4.0",
    homepage="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
    share=0.13,  # 13.40 % are positive
    read=read,
    files=(File(_MESSAGES, sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d"),),
    downloads=(
        Download(
            url="https://archive.ics.uci.edu/static/public/228/sms+spam+collection.zip",
            to="sms_spam",
            sha256="1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
            unpack="zip",
        ),
    ),
)
