"""benches/report.py: the tables that it writes from what benchmarks leave."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[2] / "benches" / "report.py"


@pytest.fixture(scope="module")
def report():
    sys.path.insert(0, str(PLACE.parent))
    try:
        import report
    finally:
        sys.path.remove(str(PLACE.parent))
    return report


def leave(folder, group, function, parameter, median):
    """What criterion leaves of one benchmark."""
    place = folder / group / function / parameter / "new"
    place.mkdir(parents=True)
    about = {"group_id": group, "function_id": function, "value_str": parameter}
    interval = {"lower_bound": 0.9 * median, "upper_bound": 1.1 * median}
    estimates = {"median": {"point_estimate": median, "confidence_interval": interval}}
    (place / "benchmark.json").write_text(json.dumps(about))
    (place / "estimates.json").write_text(json.dumps(estimates))


@pytest.fixture
def criterion(tmp_path):
    for flows in (100, 1000, 10_000):
        leave(tmp_path, "max_min", "textbook", str(flows), 3.0 * flows**1.5)
        leave(tmp_path, "max_min", "max_min", str(flows), 2.0 * flows)
    leave(tmp_path, "threads", "1 thread", "2", 5000.0)
    leave(tmp_path, "threads", "2 threads", "2", 250.0)
    leave(tmp_path, "unheard_of", "this", "a", 1234567.0)
    return tmp_path


def test_a_ratio_is_the_baseline_of_the_same_row_over_the_time(report, criterion):
    text = report.report(report.read_criterion(criterion), None)
    assert "|  | textbook | max_min | textbook / max_min |" in text
    # 3 · 100^1.5 over 2 · 100, and so on; rows in the order of their numbers.
    rows = [line for line in text.splitlines() if line.startswith("| 1")]
    assert rows == [
        "| 100 | 3.00 µs | 200 ns | 15.0 × |",
        "| 1000 | 94.9 µs | 2.00 µs | 47.4 × |",
        "| 10000 | 3.00 ms | 20.0 µs | 150 × |",
    ]


def test_growth_is_the_exponent_that_was_put_in(report, criterion):
    assert "Grows as: textbook n^1.50, max_min n^1.00" in report.report(report.read_criterion(criterion), None)


def test_nothing_is_fitted_to_parameters_that_are_no_sizes_or_span_too_little(report):
    of = report.Estimate(1.0, 1.0, 1.0)
    assert report.exponent({"1": of, "2": of, "8": of}) is None
    assert report.exponent({"100": of, "10000": of}) is None
    assert report.exponent({"a": of, "b": of, "c": of}) is None


def test_a_figure_that_varies_comes_with_its_spread(report, criterion):
    text = report.report(report.read_criterion(criterion), None)
    assert "| 2 | 5.00 µs (4.50 µs to 5.50 µs) | 250 ns (225 ns to 275 ns) | 20.0 × |" in text


def test_a_group_without_a_description_is_not_left_out(report, criterion):
    text = report.report(report.read_criterion(criterion), None)
    assert "## unheard_of" in text
    assert "| a | 1.23 ms |" in text


def test_a_row_without_its_baseline_has_a_time_and_no_ratio(report, tmp_path):
    leave(tmp_path, "max_min", "textbook", "100", 10.0)
    leave(tmp_path, "max_min", "max_min", "200", 10.0)
    text = report.report(report.read_criterion(tmp_path), None)
    assert "| 100 | 10.0 ns | – | – |" in text
    assert "| 200 | – | 10.0 ns | – |" in text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0.5, "0.500 ns"),
        (12.345, "12.3 ns"),
        (999.4, "999 ns"),
        (999.9, "1.00 µs"),
        (123456, "123 µs"),
        (6e10, "60.0 s"),
    ],
)
def test_durations_have_three_digits(report, nanoseconds, text):
    assert report.duration(nanoseconds) == text


def test_other_solvers_are_listed_by_instance_with_their_losses(report):
    row = {"instance": "leaf-spine, 100 flows", "method": "cvxpy + clarabel", "tol": 1e-6, "median": 0.0123,
           "gap": 2e-7, "loss": 1e-7, "overload": 3e-9, "ratio": 123.4, "note": ""}  # fmt: skip
    missing = row | {"method": "scipy", "median": None, "gap": None, "loss": None, "overload": None, "ratio": None}
    about = {"processor": "a processor", "date": "2026-01-01", "python": "3", "packages": {"numpy": "2"}}
    found = {"about": about | {"missing": ["ecos: no wheel"]}, "rows": [row, missing | {"note": "Timeout"}]}
    text = report.report({}, found)
    assert "### leaf-spine, 100 flows" in text
    assert "| cvxpy + clarabel | 1e-06 | 12.3 ms | 2.0e-07 | 1.0e-07 | 3.0e-09 | 123 × |  |" in text
    assert "| scipy | 1e-06 | Timeout | – | – | – | – |  |" in text
    assert "Not installed: ecos: no wheel." in text


def test_the_page_is_written_and_without_results_the_error_names_the_command(criterion, tmp_path):
    page = tmp_path / "page.md"
    command = [sys.executable, PLACE, "--output", page, "--peers", tmp_path / "none", "--criterion"]
    subprocess.run([*command, criterion], check=True)
    text = page.read_text()
    assert text.startswith("# Benchmarks\n")
    assert "## Weighted max-min" in text
    empty = subprocess.run([*command, tmp_path / "nothing"], capture_output=True, text=True)
    assert empty.returncode == 2
    assert "run `make bench` first" in empty.stderr
