import inspect
from pathlib import Path

import pytest

import butfor
from butfor import _render, datasets, errors, models, rankings, searches

PACKAGES = [butfor, _render, datasets, models, rankings, searches]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_names_in_all_are_there_once_and_documented(package):
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


def test_errors_are_python_s_own_kinds():
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.ModelError, RuntimeError)
    assert issubclass(errors.SearchError, RuntimeError)
    for error in (errors.InputError, errors.ModelError, errors.SearchError):
        assert issubclass(error, errors.ButforError)


def test_the_package_is_typed():
    assert (Path(butfor.__file__).parent / "py.typed").exists()
