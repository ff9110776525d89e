"""Engine `spark`: `mapInArrow` of Spark."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterator, Optional

from ._job import Job
from ._local import cores
from ._piece import Piece
from ._work import shares, work


def run(job: Job, pieces: Iterator[Piece], workers: Optional[int]) -> Iterator[bytes]:
    """Answers of the active session, or of one in local mode that repeats a task thrice."""
    from pyspark.sql import SparkSession

    parts = shares(list(pieces), workers or 4 * cores())
    # The session stays for later calls: not fewer threads than cores unless asked for.
    threads = min(workers or cores(), max(len(parts), cores()))
    spark = SparkSession.getActiveSession() or _local_session(SparkSession, threads)

    def answers(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            numbers = batch.column(0).to_pylist()
            data = [work(job, parts[number]) for number in numbers]
            yield pyarrow.record_batch([pyarrow.array(data, pyarrow.binary())], ["answer"])

    # A row in each partition: the number of the part.
    frame = spark.range(0, len(parts), 1, len(parts)).mapInArrow(answers, "answer binary")
    for row in frame.collect() if parts else ():
        yield bytes(row.answer)


def _local_session(session: Any, workers: int) -> Any:
    # Its workers would run the python3 of the search path.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = session.builder.master(f"local[{workers},4]").appName("hashlane")
    return builder.config("spark.ui.enabled", "false").getOrCreate()
