"""Means and their confidence intervals, by Student's t."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from contextlib import suppress


def mean_and_half_width(numbers: Sequence[float], level: float) -> tuple[float, float]:
    """The mean of numbers and half the width of its confidence interval: nan for one number, and both nan for none.

    Both are nan as well for numbers with a nan, infinities of both signs, and those whose sum no float holds.
    """
    mean = half = math.nan
    with suppress(ValueError, OverflowError):
        mean = statistics.fmean(numbers)
        if len(numbers) > 1 and math.isfinite(mean):
            quantile = student_t(0.5 + level / 2, len(numbers) - 1)
            half = quantile * statistics.stdev(numbers) / math.sqrt(len(numbers))
    return mean, half


@functools.cache
def student_t(fraction: float, degrees: int) -> float:
    """The quantile of Student's t above 1/2, to rounding: bisection on the distribution function."""
    low, high = 0.0, 1.0
    while _distribution(high, degrees) < fraction:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _distribution(middle, degrees) < fraction else (low, middle)
    return high


def _distribution(value: float, degrees: int) -> float:
    """Of Student's, as a finite sum: Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.7.3 and 26.7.4."""
    angle = math.atan2(value, math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term = cosine if degrees % 2 else 1.0
    total = 0.0 if degrees == 1 else term
    for place in range(3 if degrees % 2 else 2, degrees - 1, 2):
        term *= cosine**2 * (place - 1) / place
        total += term
    both = 2 / math.pi * (angle + sine * total) if degrees % 2 else sine * total
    return 0.5 + both / 2
