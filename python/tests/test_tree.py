"""The pages agree with the tree: versions, links, and the files that they name."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("crates/*/README.md"))]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

every_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


def read(name):
    return (ROOT / name).read_text("utf-8")


def test_the_minimum_rust_version_is_stated_once_and_repeated_right():
    (minimum,) = re.findall(r'^rust-version = "(.*)"', read("Cargo.toml"), re.MULTILINE)
    stated = [version for page in PAGES for version in re.findall(r"Rust ≥ (\d[\d.]*\d)", page.read_text("utf-8"))]
    assert set(stated) == {minimum}
    for workflow in WORKFLOWS:
        assert not re.search(r"rust-toolchain@\d", workflow.read_text("utf-8")), f"{workflow.name} repeats a version"
    for manifest in (*ROOT.glob("crates/*/Cargo.toml"), ROOT / "benches/Cargo.toml", ROOT / "examples/Cargo.toml"):
        assert "\nrust-version.workspace = true\n" in manifest.read_text("utf-8"), manifest


def test_the_minimum_python_version_is_the_same_everywhere():
    (minimum,) = re.findall(r'^requires-python = ">=(.*)"', read("pyproject.toml"), re.MULTILINE)
    flat = minimum.replace(".", "")
    assert f'target-version = "py{flat}"' in read("pyproject.toml")
    assert f"abi3-py{flat}" in read("Cargo.toml")
    assert f"sys.version_info < ({minimum.replace('.', ', ')})" in read("Makefile")
    assert f'python: "{minimum}"' in read(".github/workflows/ci.yml")
    for page in PAGES:
        assert set(re.findall(r"Python (?:≥|>=) (\d[\d.]*\d)", page.read_text("utf-8"))) <= {minimum}, page


@every_page
def test_relative_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


@pytest.mark.parametrize("crate", ["num-core", "num-parallel", "num-sim", "num-service"])
def test_a_published_crate_has_its_readme_and_licences_and_no_link_out_of_it(crate):
    folder = ROOT / "crates" / crate
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (folder / licence).read_text() == read(licence)
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (folder / "README.md").read_text("utf-8")):
        assert link.startswith("https://"), f"{link} is dead outside of the repository"


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_is_named_exists(page):
    named = re.findall(r"`([\w./-]+(?:/|/[\w-]+\.(?:rs|py|pyi|md|toml|yml)))`", read(page))
    assert len(named) > 10
    for name in named:
        if name != "target/fuzz":
            assert (ROOT / name).exists() or (ROOT / "crates" / name).exists(), f"{page} names {name}"
