"""The page's files: which modules a view needs, without anybody having to list them."""

import re

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

from butfor._web import pages


def test_views_are_those_of_the_router():
    router = pages._static()["app.js"].decode()
    assert set(re.findall(r'import\("\./(\w+)\.js"\)', router)) == set(pages.VIEWS)


def test_every_module_is_needed_by_a_view():
    """So whatever a view imports is fetched with it, and there is none that nobody imports."""
    needed = {name for modules in pages._modules().values() for name in modules}
    assert needed == {name for name in pages._static() if name.endswith(".js")} - {"docs.js"}
    for view, modules in pages._modules().items():
        assert {"app.js", f"{view}.js"} <= set(modules)
        assert not {f"{other}.js" for other in pages.VIEWS if other != view} & set(modules)
