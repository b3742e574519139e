"""Files of the repository agree with each other."""

import re
import tomllib

import pytest
import yaml

import butfor
from tools.dist import ROOT, project

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(not GITHUB.exists(), reason="needs a clone or an sdist")


def test_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == butfor.__version__
    assert citation["license"] == project()["license"]
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert versions[0] == butfor.__version__


def test_classifiers_are_the_versions_that_are_tested():
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(project()["classifiers"]))
    tests = yaml.safe_load((GITHUB / "workflows" / "tests.yml").read_text("utf-8"))
    assert tests["jobs"]["test"]["strategy"]["matrix"]["python"] == classified
    assert project()["requires-python"] == f">={classified[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_do_little_and_end(path):
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"]
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_hooks_are_tools_of_the_project():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        assert hook["entry"].startswith(".venv/bin/")


def test_developers_tools_are_groups_and_no_extras():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert {"dev", "models", "release"} <= set(groups)
    assert not set(groups) & set(project()["optional-dependencies"])
