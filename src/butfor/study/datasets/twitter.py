"""Twitter: tweets about climate change; positive are those with the answer `Yes`.

Annotators answered whether a tweet says that global warming happens. In the first 1,088 rows of the file the
answer is spelled `Yes`, in all later rows `Y`. The paper's target is `Yes` alone. So the target also depends
on the position of a tweet in the file, and a model may learn the position instead of the answer. The study
uses the paper's target; twitter_corrected accepts both spellings.
"""

import csv
from functools import partial
from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.text import text_data

_TWEETS = "twitter_climate/1377884570_tweet_global_warming.csv"


def read(folder: Path, *, answers: frozenset[str]) -> Data:
    """Read the tweets; those with one of these answers are positive."""
    # Latin-1 reads any bytes: the published file is garbled, and copies differ in encoding.
    with (folder / _TWEETS).open(encoding="latin-1", newline="") as file:
        tweets = list(csv.DictReader(file))
    positive = [tweet["existence"] in answers for tweet in tweets]
    return text_data([tweet["tweet"] for tweet in tweets], positive, folder)


DATASET = Dataset(
    name="twitter",
    kind="text",
    target="says that climate change exists, if written `Yes`",
    citation="CrowdFlower (2013). Sentiment of climate change. Data for Everyone.",
    licence="not stated",
    homepage="https://data.world/crowdflower/sentiment-of-climate-change",
    share=0.10,
    read=partial(read, answers=frozenset({"Yes"})),
    files=(File(_TWEETS),),
    steps="sign in, download 1377884570_tweet_global_warming.csv, and put it in twitter_climate/.",
)
