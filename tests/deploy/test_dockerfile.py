"""The image: what the Dockerfile says, as far as it can be read without making it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from deployed import DEPLOY, instructions, variables_of_the_image

from butfor._web.health import PATHS

ROOT = DEPLOY.parent


def of(name):
    return [rest for each, rest in instructions() if each == name]


def last_stage():
    names = [name for name, _ in instructions()]
    return instructions()[len(names) - names[::-1].index("FROM") :]


def test_packages_are_made_and_installed_in_the_first_stage_alone():
    assert [rest.partition(" ")[0] for rest in of("FROM")] == ["python:${PYTHON}-slim"] * 2  # no other host
    runs = " ".join(rest for name, rest in last_stage() if name == "RUN")
    assert not re.search(r"\b(pip|gcc|make|build-essential)\b", runs)
    assert re.findall(r"apt-get install --yes --no-install-recommends ([\w -]+?) +&&", runs) == ["libgomp1"]


def test_it_runs_as_nobody_special():
    (user,) = of("USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)  # Kubernetes knows no names
    names = [name for name, _ in last_stage()]
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])


def test_it_is_asked_for_its_health_where_it_listens():
    variables = variables_of_the_image()
    assert of("EXPOSE") == [variables["BUTFOR_PORT"]]
    (check,) = of("HEALTHCHECK")
    _, _, program = command = json.loads(check.partition("CMD ")[2])[1:]
    assert command[:2] == ["-I", "-c"]
    compile(program, "HEALTHCHECK", "exec")
    assert re.findall(r"'(/[\w/]+)'", program) == [PATHS[1]]
    assert variables["BUTFOR_OPEN_HEALTH"] == "1"


def test_what_is_copied_is_there_and_not_ignored():
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    allowed = [rule.removeprefix("!") for rule in rules if rule.startswith("!")]
    assert "*" in rules
    default = dict(each.split("=", 1) for each in of("ARG"))
    copied = [
        rest.replace("${CONSTRAINTS}", default["CONSTRAINTS"]).split()
        for rest in of("COPY")
        if not rest.startswith("--from=")
    ]
    sources = [each for words in copied for each in words[:-1] if not each.startswith("--")]
    assert len(sources) > 5
    for source in sources:
        assert (ROOT / source).exists()
        assert any(
            source in [path.relative_to(ROOT).as_posix() for path in ROOT.glob(rule)] for rule in allowed
        )


def test_extras_are_those_of_the_package():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    default = dict(each.split("=", 1) for each in of("ARG"))
    for extra in default["EXTRAS"].split(","):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE)
    assert f'"Programming Language :: Python :: {default["PYTHON"]}"' in project


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
@pytest.mark.parametrize("is_there", [False, True])
def test_the_entrypoint_copies_loops_once_and_becomes_butfor(tmp_path, is_there):
    script = (
        (DEPLOY / "entrypoint.sh").read_text("utf-8").replace("/opt/butfor/compiled", str(tmp_path / "loops"))
    )
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "loop.nbi").write_text("of the image")
    (tmp_path / "butfor").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (tmp_path / "butfor").chmod(0o755)
    if is_there:
        (tmp_path / "kept").mkdir()
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    done = subprocess.run(
        ["sh", "-c", script, "entrypoint.sh", "serve", "a model.skops"],
        env=variables,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "serve|a model.skops|", "")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ([] if is_there else ["loop.nbi"])


def test_hadolint_finds_nothing():
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    hadolint = shutil.which("hadolint", path=os.pathsep.join(folders))
    if hadolint is None:
        pytest.skip("needs hadolint, which is there for Linux on x86_64")
    done = subprocess.run([hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
