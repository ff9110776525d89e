"""Engine `dask`: delayed functions of Dask."""

from __future__ import annotations

from typing import Iterator, Optional

from ._job import Job
from ._local import cores
from ._piece import Piece
from ._work import shares, work


def run(job: Job, pieces: Iterator[Piece], workers: Optional[int]) -> Iterator[bytes]:
    """Answers of the scheduler that is set: a client's cluster, or else threads of this process."""
    import dask

    parts = shares(list(pieces), workers or 4 * cores())
    task = dask.delayed(work, pure=False)
    yield from dask.compute(*(task(job, part) for part in parts))
