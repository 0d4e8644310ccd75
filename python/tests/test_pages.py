"""The Python of README and docs runs and prints what the pages say. (Their Rust runs as documentation tests.)"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
# A block of Python, and the block of text right below it, if there is one: what it prints.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def without_times(text):
    """The text without the times, which differ between machines."""
    return re.sub(r"[\d.]+ m?s\b", "… ms", text)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_python_block_runs_and_prints_the_text_below_it(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert any(block["output"] for block in blocks), f"{page.name} shows no output"

    namespace = {"__name__": "page"}
    for block in blocks:
        # The empty lines make a traceback point into the page itself.
        above = text.count("\n", 0, block.start("code"))
        code = compile("\n" * above + block["code"], page, "exec")
        exec(code, namespace)
        printed = capsys.readouterr().out
        if block["output"] is not None:
            assert without_times(printed) == without_times(block["output"])
