"""Profiles of Hypothesis: few examples, always the same, in `make test`; many random ones in `make nightly`.

`HYPOTHESIS_PROFILE=nightly` in the environment or `--hypothesis-profile nightly` chooses the large profile.
"""

import os

from hypothesis import settings

FEW, MANY, USUAL = 20, 2_000, 100
settings.register_profile("butfor", max_examples=FEW, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", max_examples=MANY, deadline=None, derandomize=False, print_blob=True)


def load_profile() -> None:
    """Load the profile that the environment names."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "butfor"))


def is_nightly() -> bool:
    """Return whether the large profile is loaded."""
    return settings.default.max_examples >= MANY


def n_examples(number: int, **options) -> settings:
    """Return settings for a test that needs `number` examples where others need 100."""
    return settings(max_examples=max(1, number * settings.default.max_examples // USUAL), **options)
