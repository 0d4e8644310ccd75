"""The README's Python runs and prints what it says. (Its Rust is a documentation test of netnum-core.)"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A block of Python, and the block of text right below it, if there is one: what it prints.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def without_times(text):
    """The same text where no two machines differ."""
    return re.sub(r"[\d.]+ m?s\b", "… ms", text)


@pytest.mark.parametrize("name", ["README.md"])
def test_every_python_block_runs_and_prints_what_stands_below_it(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks, f"{name} shows no Python"
    assert any(block["output"] for block in blocks), f"{name} shows no output"

    namespace = {"__name__": "readme"}
    for block in blocks:
        # The empty lines make a traceback point into the page itself.
        above = text.count("\n", 0, block.start("code"))
        code = compile("\n" * above + block["code"], ROOT / name, "exec")
        exec(code, namespace)
        printed = capsys.readouterr().out
        if block["output"] is not None:
            assert without_times(printed) == without_times(block["output"])
