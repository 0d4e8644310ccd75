"""Every ```python block runs, top to bottom, one namespace per file. (```rust blocks are doc tests of netnum-core.)"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md"])
def test_every_python_block_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks, f"{name} shows no Python"

    namespace = {"__name__": "readme"}
    for block in blocks:
        # The empty lines make a traceback point into the page itself.
        above = text.count("\n", 0, block.start(1))
        code = compile("\n" * above + block[1], ROOT / name, "exec")
        exec(code, namespace)
