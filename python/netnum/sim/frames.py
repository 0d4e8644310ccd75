"""Reports as pandas frames. pandas is imported when one is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import frames
from .._core import NumError, Report

if TYPE_CHECKING:
    import pandas


def report(report: Report, of: str) -> pandas.DataFrame:
    """One row per flow or per link."""
    if of not in ("flows", "links"):
        raise NumError(f"of is {of!r}, expected 'flows' or 'links'")
    pandas = frames.imported()
    if of == "links":
        columns = {
            "bytes": report.link_bytes,
            "utilization": report.link_utilization,
            "peak_load": report.peak_loads,
        }
        return pandas.DataFrame(columns).rename_axis("link")
    workload = report.workload
    columns = {
        "arrival": workload.arrivals,
        "source": workload.sources,
        "destination": workload.destinations,
        "size": workload.sizes,
        "completion_time": report.completion_times,
        "slowdown": report.slowdowns,
        "bytes_sent": report.bytes_sent,
    }
    if workload.production is not None:
        columns |= {"production": workload.production, "copy_rate": report.copy_rates}
    return pandas.DataFrame(columns).rename_axis("flow")
