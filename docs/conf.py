"""The site: `make docs` builds it into target/site, with every notebook run and every warning an error."""

import socket
import sys
from pathlib import Path

import netnum

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for notebook_files

project = "netnum"
author = "The netnum authors"
copyright = "The netnum authors"
version = release = netnum.__version__

extensions = [
    "myst_nb",
    "notebook_files",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "reproductions"]
templates_path = ["_templates"]

# --- pages ---

myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# --- notebooks: run at every build, and a cell that fails fails the build ---

nb_execution_mode = "force"
nb_execution_timeout = 60
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_render_markdown_format = "myst"

# --- reference ---

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
# `solve` in a docstring is a link.
default_role = "py:obj"


def is_reachable(host: str) -> bool:
    """Whether other sites can be linked: their inventories are fetched from them."""
    try:
        socket.create_connection((host, 443), timeout=2).close()
    except OSError:
        return False
    return True


intersphinx_mapping = {
    name: (f"https://{site}/", None)
    for name, site in {
        "python": "docs.python.org/3",
        "numpy": "numpy.org/doc/stable",
        "scipy": "docs.scipy.org/doc/scipy",
        "networkx": "networkx.org/documentation/stable",
        "pandas": "pandas.pydata.org/docs",
        "matplotlib": "matplotlib.org/stable",
    }.items()
    if is_reachable(site.split("/")[0])
}

# --- look ---

html_theme = "pydata_sphinx_theme"
html_title = "netnum"
html_static_path = ["_static"]
html_css_files = ["netnum.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/netnum/netnum",
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "article_header_end": ["notebook.html"],
}
