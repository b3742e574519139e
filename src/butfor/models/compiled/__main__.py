"""Compile all loops, or find them on disk: `python -m butfor.models.compiled`."""

from butfor.models.compiled import MODULES, kernels

for module in MODULES:
    kernels(module)
