"""Twitter, corrected: tweets about climate change; positive are those with the answer yes in either spelling.

The paper's target accepts only one spelling, which depends on the position in the file: see twitter.
"""

from dataclasses import replace
from functools import partial

from butfor.study.datasets import twitter

DATASET = replace(
    twitter.DATASET,
    name="twitter_corrected",
    target="says that climate change exists",
    share=0.50,  # 51.1 % are positive
    read=partial(twitter.read, answers=frozenset({"Yes", "Y"})),
)
