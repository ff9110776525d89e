"""Engine `daft`: a function of Daft over batches."""

from __future__ import annotations

from typing import Any, Iterator, Optional

from ._job import Job
from ._local import cores
from ._piece import Piece
from ._work import shares, work


def run(job: Job, pieces: Iterator[Piece], workers: Optional[int]) -> Iterator[bytes]:
    """Answers of the runner that is set: threads of this process, or Ray."""
    import daft

    parts = shares(list(pieces), workers or 4 * cores())

    def answers(numbers: Any) -> list[bytes]:
        return [work(job, parts[number]) for number in numbers.to_pylist()]

    if parts:
        task = daft.func.batch(return_dtype=daft.DataType.binary(), batch_size=1)(answers)
        frame = daft.from_pydict({"part": list(range(len(parts)))})
        # Threads take batches of the whole frame in turn; tasks of Ray, partitions.
        if daft.get_or_infer_runner_type() == "ray":
            frame = frame.into_partitions(len(parts))
        yield from frame.select(task(frame["part"]).alias("answer")).to_pydict()["answer"]
