"""Engine `local`: the threads of this process."""

from __future__ import annotations

import os
import threading
from concurrent import futures
from typing import Any, Iterator, Optional

from ._job import Job
from ._piece import Piece
from ._read import batches
from ._work import SKETCH, update


def run(job: Job, pieces: Iterator[Piece], workers: Optional[int]) -> Iterator[bytes]:
    """Answers of threads; each has a sketch. A thread decodes new pieces as long as there are any, and then
    takes batches of the other threads' pieces."""
    workers = workers or cores()
    with futures.ThreadPoolExecutor(workers) as pool:
        team = _Team(job, pieces, pool, workers)
        try:
            # Not for ever: signals are handled between two calls. A thread starts others before it is done.
            while not all(future.done() for future in team.started):
                futures.wait(team.started, timeout=0.1)
        finally:
            team.stop.set()
    for future in team.started:
        yield SKETCH + future.result().to_bytes()


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Stream:
    """Batches of a piece, one thread at a time."""

    def __init__(self, job: Job, piece: Piece) -> None:
        self.piece = piece
        self._batches = batches(piece, job)
        self._lock = threading.Lock()

    def next(self) -> tuple[int, Any]:
        """The next batch and its first row; no batch at the end."""
        with self._lock:
            return next(self._batches, (0, None))


class _Team:
    """What threads share: the pieces that nobody has begun, and the streams that are open.

    There are at most `workers` threads; beyond four for each core, no more than pieces that were begun.
    """

    def __init__(
        self, job: Job, pieces: Iterator[Piece], pool: futures.ThreadPoolExecutor, workers: int
    ) -> None:
        self.stop = threading.Event()
        self.started: list[futures.Future[Any]] = []
        self._job = job
        self._pieces = pieces
        self._pool, self._workers, self._begun = pool, workers, 0
        self._open: list[_Stream] = []
        self._lock = threading.Lock()
        with self._lock:
            for _ in range(min(workers, 4 * cores())):
                self._start()

    def _start(self) -> None:
        self.started.append(self._pool.submit(self.work))

    def work(self) -> Any:
        """The sketch of the batches that this thread took."""
        sketch = self._job.sketch()
        try:
            while not self.stop.is_set():
                stream = self._begin() or self._other()
                if stream is None:
                    break
                self._drain(stream, sketch)
        except BaseException:
            self.stop.set()
            raise
        return sketch

    def _begin(self) -> Optional[_Stream]:
        with self._lock:
            piece = next(self._pieces, None)
            if piece is None:
                return None
            stream = _Stream(self._job, piece)
            self._open.append(stream)
            self._begun += 1
            # Each thread has a piece, and more may be left.
            if self._begun == len(self.started) < self._workers and not self.stop.is_set():
                self._start()
            return stream

    def _other(self) -> Optional[_Stream]:
        with self._lock:
            return self._open[0] if self._open else None

    def _drain(self, stream: _Stream, sketch: Any) -> None:
        while not self.stop.is_set():
            first, batch = stream.next()
            if batch is None:
                break
            update(self._job, sketch, stream.piece, first, batch)
        with self._lock:
            if stream in self._open:
                self._open.remove(stream)
