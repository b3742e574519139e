"""Build the distributions, check them, and try each extra in an environment of its own: `make dist`.

1. Build the sdist, the wheel from the tree, and the wheel from the sdist. Both wheels must be equal.
2. `twine check --strict`; the wheel holds every tracked file of src/butfor and nothing else.
3. For each extra: a new environment with the wheel and this extra, in which `tools/smoke.py` uses it.

Spark is large and needs Java: `--spark` tries it, too.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from tools.smoke import EXTRAS

ROOT = Path(__file__).parents[1]
DIST, ENVIRONMENTS = ROOT / "dist", ROOT / "build" / "dist"
UV = str(Path(sys.executable).with_name("uv"))
NOT_IN_WHEEL = ("*.d.ts",)
"""Files of src/butfor that stay out of the wheel."""
UNSET = "example.org"
"""Where [project.urls] points as long as nobody has set it."""


class DistError(Exception):
    """What is wrong with a distribution."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, check and try."""
    options = _options(arguments)
    urls = project()["urls"]
    if any(UNSET in url for url in urls.values()):
        message = (
            f"[project.urls] of pyproject.toml still has addresses of {UNSET}: set them before a release."
        )
        if options.release:
            raise DistError(message)
        print(f"Note: {message}")
    wheel = build()
    require_tracked_files(wheel, tracked_files())
    run(UV, "tool", "run", "twine", "check", "--strict", *map(str, sorted(DIST.glob("butfor-*"))))
    for extra in options.extras:
        try_extra(wheel, extra, options.python, options.lowest)
    print(f"{wheel.name} is fine: {', '.join(options.extras)} tried with Python {options.python}.")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--extras", nargs="*", choices=list(EXTRAS), help="only these; core is none of them")
    parser.add_argument("--spark", action="store_true", help="try spark, too")
    parser.add_argument("--python", default=sys.executable, help="the interpreter; default: this one")
    parser.add_argument(
        "--lowest", action="store_true", help="with the oldest versions that pyproject.toml allows"
    )
    parser.add_argument("--release", action="store_true", help=f"refuse addresses of {UNSET}")
    options = parser.parse_args(arguments)
    if options.extras is None:
        options.extras = [extra for extra in EXTRAS if extra != "spark" or options.spark]
    if "spark" in options.extras and shutil.which("java") is None:
        parser.error("spark needs Java, and there is no java on the path.")
    return options


def project() -> dict[str, dict[str, str]]:
    """Return the table [project] of pyproject.toml."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return dict(table)


def build() -> Path:
    """Build into dist/ and return the wheel; raise unless the sdist makes the same one."""
    shutil.rmtree(DIST, ignore_errors=True)
    again = ENVIRONMENTS / "from-sdist"
    shutil.rmtree(again, ignore_errors=True)
    run(UV, "build", "--quiet", "--sdist", "--out-dir", str(DIST), str(ROOT))
    run(UV, "build", "--quiet", "--wheel", "--out-dir", str(DIST), str(ROOT))
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", str(again), str(sdist))
    require_same_content(wheel, again / wheel.name)
    return wheel


def require_same_content(wheel: Path, other: Path) -> None:
    """Raise unless two wheels hold the same files."""
    ours, theirs = content(wheel), content(other)
    differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if differing:
        raise DistError(f"the sdist makes another wheel than the tree does: {', '.join(differing)}")


def content(wheel: Path) -> dict[str, str]:
    """Return the files of a wheel, by name, as hashes."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def tracked_files() -> set[str]:
    """Return the files that the wheel should hold, by their name in it."""
    listed = run("git", "-C", str(ROOT), "ls-files", "-z", "src/butfor").split("\0")
    paths = [PurePosixPath(name) for name in listed if name]
    return {
        path.relative_to("src").as_posix()
        for path in paths
        if not any(path.match(pattern) for pattern in NOT_IN_WHEEL)
    }


def require_tracked_files(wheel: Path, tracked: set[str]) -> None:
    """Raise unless a wheel holds exactly these files, and those that describe it."""
    held = {name for name in content(wheel) if ".dist-info/" not in name}
    for problem, names in (("lacks", tracked - held), ("holds what git does not track", held - tracked)):
        if names:
            raise DistError(f"{wheel.name} {problem}: {', '.join(sorted(names))}")


def try_extra(wheel: Path, extra: str, python: str, lowest: bool) -> None:
    """Install the wheel with one extra into a new environment, and use it there."""
    environment = ENVIRONMENTS / extra
    shutil.rmtree(environment, ignore_errors=True)
    run(UV, "venv", "--quiet", "--python", python, str(environment))
    interpreter = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = "butfor" if extra == "core" else f"butfor[{extra}]"
    resolution = ["--resolution", "lowest-direct"] if lowest else []
    install = [UV, "pip", "install", "--quiet", "--python", str(interpreter), *resolution]
    run(*install, f"{wanted} @ {wheel.as_uri()}")
    print(run(str(interpreter), "-I", str(ROOT / "tools" / "smoke.py"), extra, cwd=environment).strip())
    shutil.rmtree(environment)


def run(*command: str, cwd: Path = ROOT) -> str:
    """Return what a command prints; raise with its errors if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    if done.returncode:
        raise DistError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    try:
        main()
    except DistError as error:
        sys.exit(f"error: {error}")
