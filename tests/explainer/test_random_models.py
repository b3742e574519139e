"""Random models, thresholds on the very scores: no wrong bound, no unconfirmed answer.

`python -m benchmarks.fuzz` does the same for as long as one likes.
"""

import pytest

from benchmarks.fuzz import FAMILIES, OUTCOMES, fuzz_case, judged


@pytest.mark.parametrize("family", FAMILIES)
def test_every_word_is_the_models_own(family):
    for number in range(7):
        trial = fuzz_case(1, number, family, dense=number % 2 == 1)
        faults = [what for what in judged(trial) if what not in OUTCOMES]
        assert not faults, str(trial)
