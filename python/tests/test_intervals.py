"""Means with confidence intervals, which sweeps and plots share."""

import math

import numpy as np
import pytest

from netnum._intervals import mean_and_half_width, student_t


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.706205), (2, 4.302653), (3, 3.182446), (4, 2.776445), (5, 2.570582), (30, 2.042272)],
)
def test_quantiles_are_those_of_students_tables(degrees, expected):
    assert student_t(0.975, degrees) == pytest.approx(expected, rel=1e-6)


def test_quantiles_are_closed_forms_of_one_and_two_degrees():
    for fraction in (0.6, 0.9, 0.975, 0.9995):
        assert student_t(fraction, 1) == pytest.approx(math.tan(math.pi * (fraction - 0.5)), rel=1e-12)
        closed = (2 * fraction - 1) / math.sqrt(2 * fraction * (1 - fraction))
        assert student_t(fraction, 2) == pytest.approx(closed, rel=1e-12)


@pytest.mark.parametrize("fraction", [0.55, 0.9, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy_to_rounding(fraction):
    stats = pytest.importorskip("scipy.stats")
    for degrees in (*range(1, 40), 500):
        assert student_t(fraction, degrees) == pytest.approx(stats.t.ppf(fraction, degrees), rel=1e-11)


def test_one_number_has_a_mean_and_no_interval_and_none_has_neither():
    assert mean_and_half_width([3.0], 0.95) == (3.0, pytest.approx(math.nan, nan_ok=True))
    assert np.isnan(mean_and_half_width([], 0.95)).all()
