"""Airline: tweets about airlines of the United States; positive are those of good mood."""

import csv
from pathlib import Path

from butfor.study.datasets.base import Data, Dataset, File
from butfor.study.datasets.text import text_data

_TWEETS = "airline/Tweets.csv"


def documents(folder: Path) -> tuple[list[str], list[bool]]:
    """Return the tweets, and which are of good mood; neutral ones are not."""
    with (folder / _TWEETS).open(encoding="utf-8", newline="") as file:
        tweets = list(csv.DictReader(file))
    positive = [tweet["airline_sentiment"] == "positive" for tweet in tweets]
    return [tweet["text"] for tweet in tweets], positive


def read(folder: Path) -> Data:
    """Read the tweets."""
    return text_data(*documents(folder), folder)


DATASET = Dataset(
    name="airline",
    kind="text",
    target="positive sentiment",
    citation="CrowdFlower (2015). Twitter US airline sentiment. Data for Everyone.",
    licence="CC BY-NC-SA 4.0",
    homepage="https://www.kaggle.com/datasets/crowdflower/twitter-airline-sentiment",
    share=0.15,
    read=read,
    files=(File(_TWEETS),),
    steps="sign in to Kaggle, download the archive, and put its Tweets.csv in airline/.",
)
