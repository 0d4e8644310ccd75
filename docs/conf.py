"""The site: `make docs` builds it into target/site, with every notebook run and every warning an error."""

import atexit
import http.client
import importlib
import shutil
import sys
import tempfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import netnum

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for notebook_files and utility_families

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

# --- notebooks: run at every build; a cell that fails is a warning, with its traceback, and fails `make docs` ---

nb_execution_mode = "force"
nb_execution_timeout = 60
nb_execution_raise_on_error = False
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_markdown_format = "myst"

# --- reference ---

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# Their layers are in the reference, whether or not they are installed.
autodoc_mock_imports = ["torch", "jax"]
# So is `netnum.endpoint`, whether or not netnum was built with its service, for Linux.
if not hasattr(netnum._core, "_Endpoint"):
    netnum._core._Endpoint = object
    with mock.patch.object(sys, "platform", "linux"):
        importlib.import_module("netnum.endpoint")
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
# `solve` in a docstring is a link.
default_role = "py:obj"


OTHER_SITES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "networkx": "https://networkx.org/documentation/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "matplotlib": "https://matplotlib.org/stable/",
}
INVENTORIES = Path(tempfile.mkdtemp(prefix="netnum-inventories-"))
atexit.register(shutil.rmtree, INVENTORIES, ignore_errors=True)


def has_inventory(name: str) -> bool:
    """Whether another site can be linked. One that cannot be reached is no warning: the build needs no network."""
    request = urllib.request.Request(f"{OTHER_SITES[name]}objects.inv", headers={"User-Agent": "Sphinx"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            content = answer.read()
    except (OSError, http.client.HTTPException):
        return False
    (INVENTORIES / name).write_bytes(content)
    return content.startswith(b"# Sphinx inventory")


with ThreadPoolExecutor() as pool:
    found = [name for name, is_there in zip(OTHER_SITES, pool.map(has_inventory, OTHER_SITES), strict=True) if is_there]
intersphinx_mapping = {name: (OTHER_SITES[name], str(INVENTORIES / name)) for name in found}

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
