"""From a call to an engine, and from its answers to the sketch."""

from __future__ import annotations

import contextlib
import importlib
import operator
import re
from typing import Any, Callable, Generator, Iterator, Optional

from ._job import Job
from ._piece import Piece
from ._read import split, types
from ._source import Source, resolve
from ._work import merge

#: Engines: `local`, the threads of this process; the others run tasks of the package with the same name.
ENGINES = ("local", "ray", "daft", "spark", "dask")

#: Rows of a piece, at least, if the file has row groups. Threads start none, so theirs are smaller.
_TASK, _THREADS = 1 << 22, 1 << 21

#: Largest number of workers.
_MOST_WORKERS = 1 << 16

#: An engine: answers of tasks on all pieces; at most so many run at a time.
Engine = Callable[[Job, Iterator[Piece], Optional[int]], Iterator[bytes]]


def run(job: Job, source: Source, engine: str, workers: Optional[int], filesystem: Any) -> Any:
    """The sketch of all files of a source, by an engine."""
    if engine not in ENGINES:
        raise ValueError(f"engine {engine!r} is not supported; there are {', '.join(ENGINES)}")
    workers = _checked(workers)
    # Before any file is read: errors of arguments.
    sketch = job.sketch()
    start: Engine = importlib.import_module(f"._{engine}", __package__).run
    found, filesystem, scan = resolve(source, filesystem, job.needed())
    job = job._replace(filesystem=filesystem, scan=scan)
    if not found:
        # A table without files.
        return sketch
    job = job._replace(types=types(found[0], job), first=found[0].path)
    least = _THREADS if engine == "local" else _TASK
    pieces = _Pieces(piece for file in found for piece in split(file, job, least))
    # Closed at the first error, which cancels the tasks.
    with contextlib.closing(_named(engine, start(job, pieces, workers), pieces)) as answers:
        for answer in answers:
            merge(sketch, answer)
    return sketch


def _checked(workers: Any) -> Optional[int]:
    """A number of workers that is within its range."""
    if workers is None:
        return None
    try:
        number = operator.index(workers)
    except TypeError:
        next_step = "pass an integer, or leave it out for one for each core"
        raise TypeError(f"workers is {workers!r}, of type {type(workers).__name__}; {next_step}") from None
    if not 1 <= number <= _MOST_WORKERS:
        raise ValueError(f"workers is {number}, but must be from 1 to {_MOST_WORKERS:,}")
    return number


class _Pieces(Iterator[Piece]):
    """Pieces, and the error of the file that ended them."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self.error: Optional[BaseException] = None

    def __next__(self) -> Piece:
        try:
            return next(self._pieces)
        except StopIteration:
            raise
        except BaseException as error:
            self.error = error
            raise


def _named(engine: str, answers: Iterator[bytes], pieces: _Pieces) -> Generator[bytes, None, None]:
    """The answers; a failure of the engine itself is an error that names it."""
    try:
        yield from answers
    except Exception as error:
        if engine == "local" or error is pieces.error or isinstance(error, ImportError):
            raise
        failed = f"engine {engine!r} failed: {_reason(error)}"
        raise RuntimeError(f"{failed}; check its logs, and repeat the call") from error


def _reason(error: Exception) -> str:
    """The error as one line: from a worker's traceback, its error line."""
    lines = re.findall(r"^\S*(?:Error|Exception): .+", str(error), re.MULTILINE) or str(error).splitlines()
    line: str = lines[0] if lines else type(error).__name__
    return " ".join(line.split())[:300]
