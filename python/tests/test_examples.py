"""Every example runs to its end: the Python ones, and the Rust ones where there is a cargo."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def examples(suffix):
    paths = sorted((ROOT / "examples").glob(f"*{suffix}"))
    return pytest.mark.parametrize("path", paths, ids=[path.name for path in paths])


def run(command, plots):
    environment = os.environ | {"MPLBACKEND": "Agg", "NETNUM_PLOTS": str(plots)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout


@examples(".py")
def test_the_python_example_runs(path, tmp_path):
    run([sys.executable, str(path)], tmp_path)


REPRODUCTIONS = sorted((ROOT / "examples" / "reproductions").glob("*_*.py"))


@pytest.mark.parametrize("path", REPRODUCTIONS, ids=[path.name for path in REPRODUCTIONS])
def test_the_reproduction_holds_in_its_small_form(path, tmp_path):
    run([sys.executable, str(path), "--small"], tmp_path)


@examples(".rs")
@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_rust_example_runs(path, tmp_path):
    # Built as `make test` has built it: with the features of the whole workspace, or all is compiled again.
    left_out = ["--exclude", "netnum-service"] if os.environ.get("SERVICE", "0") == "0" else []
    features = ["--workspace", *left_out, "--features", "netnum-parallel/loom"]
    run(["cargo", "build", "--quiet", *features, "--example", path.stem], tmp_path)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    run([str(target / "debug" / "examples" / path.stem)], tmp_path)
