"""Twitter: tweets about climate change, and was the answer `Yes`.

The annotators were asked whether a tweet says that global warming happens. In the first 1,088 rows of the
file the answer reads `Yes`, in all later ones the same answer reads `Y`. The paper's target is `Yes` alone,
so it also says which part of the file a tweet comes from, and a model may learn that instead of the answer.
The study keeps the paper's target; twitter_corrected takes both spellings.
"""

import csv
from functools import partial
from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.text import text_data

_TWEETS = "twitter_climate/1377884570_tweet_global_warming.csv"


def read(folder: Path, *, answers: frozenset[str]) -> Data:
    """Read the tweets; positive are those with one of these answers."""
    # Latin-1 reads any bytes: the file was garbled before it was published, and copies differ in encoding.
    with (folder / _TWEETS).open(encoding="latin-1", newline="") as lines:
        tweets = list(csv.DictReader(lines))
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
