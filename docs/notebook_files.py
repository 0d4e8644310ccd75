"""Notebooks of the site as files: each page with code is offered as .ipynb with its outputs, and as its MyST source.

MyST-NB keeps the executed notebooks. Their text is in MyST; Jupyter knows Markdown only, and gets it here.
"""

import json
import re
from pathlib import Path

from myst_nb.sphinx_ext import OUTPUT_FOLDER

REWRITTEN = [
    (r"```\{math\}\n(.*?)```", r"$$\n\1$$"),
    (r":::\{dropdown\} ([^\n]*)\n(.*?)\n:::", r"<details><summary>\1</summary>\n\n\2\n\n</details>"),
    (r"```\{literalinclude\}.*?```", "(The listing stands on the page of the site.)"),
    (r"```\{toctree\}.*?```\n?", ""),
    (r"\{[\w:]+\}`([^`]*)`", r"`\1`"),
    # Links between pages lead nowhere from a single file.
    (r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1"),
]


def as_markdown(myst):
    """The text of a cell, without what only Sphinx understands."""
    for pattern, replacement in REWRITTEN:
        myst = re.sub(pattern, replacement, myst, flags=re.DOTALL)
    return myst


def is_notebook(app, page):
    """Whether a page has code that was run; the start page is none."""
    return page != app.config.root_doc and app.env.metadata.get(page, {}).get("file_format") == "mystnb"


def write_all(app, exception):
    """Write the notebooks into the built site."""
    if exception or app.builder.name != "html":
        return
    executed = Path(app.outdir).parent / OUTPUT_FOLDER
    needs = f"A page of the documentation of netnum {app.config.version}. It needs `netnum[all]` and SciPy."
    for page in filter(lambda page: is_notebook(app, page), app.env.found_docs):
        notebook = json.loads((executed / f"{page}.ipynb").read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = as_markdown("".join(cell["source"]))
        title, _, rest = notebook["cells"][0]["source"].partition("\n")
        notebook["cells"][0]["source"] = f"{title}\n\n*{needs}*\n{rest}"
        file = Path(app.outdir) / "notebooks" / f"{page}.ipynb"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(notebook, ensure_ascii=False), "utf-8")


def offer(app, page, template, context, doctree):
    """Tell the template of a page about its files."""
    context["is_notebook"] = is_notebook(app, page)


def setup(app):
    """Called by Sphinx."""
    app.connect("html-page-context", offer)
    app.connect("build-finished", write_all)
    return {"parallel_read_safe": True}
