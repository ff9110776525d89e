"""Measurements of studies as tables."""

from __future__ import annotations

import os
from typing import Sequence, Union

from . import _native
from ._arrays import Table

#: Path of a file.
Path = Union[str, "os.PathLike[str]"]


def records(path: Path) -> Table:
    """Records of a run of `hashlane study run`.

    Args:
        path: The file `records.csv`, or the folder with it.

    Returns:
        Table of `study`, `model`, `workload`, `scheme`, `probe`, `metric`, `unit`, `value` (the median, unless
        the metric names another statistic), `low` and `high` (bounds at 95 %), `samples`, `launches` (between
        which the bounds hold; 1: within one launch).

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file has no records: the line and the reason.
    """
    return Table(_native.read_records(os.fspath(path)))


def compare(a: Path, b: Path, *, metrics: Union[str, Sequence[str]] = ()) -> Table:
    """Ratios of the records that two runs have in common.

    Separate runs have no verdicts, because they differ by more than the noise within each:
    `hashlane compare --run` alternates two builds, and judges.

    Args:
        a, b: As for :func:`records`.
        metrics: Metrics to compare, or one; all but ratios if none are given.

    Returns:
        Table of `study`, `workload`, `scheme`, `metric`, `unit`, `a`, `b`, `ratio` (b / a, null unless all
        figures are above 0), `low` and `high` (bounds of the ratio by the noise within the runs).

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A file has no records; there are none in common; a metric is not in both.
    """
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    return Table(_native.compare_records(os.fspath(a), os.fspath(b), chosen))
