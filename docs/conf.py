"""Settings of the documentation site: `make site` builds it with Sphinx, offline, with warnings as errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import fill, mend_body
from sphinx.application import Sphinx

from butfor import __version__

project = "butfor"
author = "The butfor developers"
copyright = "The butfor developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["**.ipynb"]
myst_heading_anchors = 4

default_role = "code"
smartquotes = False  # they would make one dash of the two before an option
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # fields of one name in several classes, which need not be links
napoleon_use_param = False  # words such as "text" are kinds of arguments, and no names to link
napoleon_use_rtype = False
python_maximum_signature_line_length = 100

html_theme = "pydata_sphinx_theme"
html_title = "butfor"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
ALONE = ("start", "benchmarks", "faq", "search")  # pages with no others beside them in a section
html_sidebars = {page: [] for page in ALONE}
html_theme_options = {
    "logo": {"text": "butfor"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_toc_level": 2,
    "collapse_navigation": True,
    "header_links_before_dropdown": 9,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app: Sphinx) -> None:
    """Fill in what programs write when a page is read, and mend what Sphinx writes of docstrings."""
    app.connect("source-read", fill)
    app.connect("html-page-context", mend_body)
