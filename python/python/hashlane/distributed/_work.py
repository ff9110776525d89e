"""The task of a worker, and its answer."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from . import _errors
from ._job import Job
from ._piece import Piece
from ._read import batches

#: First byte of an answer.
SKETCH, _ERROR = b"\0", b"\1"


def work(job: Job, pieces: Iterable[Piece]) -> bytes:
    """The sketch of pieces, or the error of a file: an answer, as no engine passes an exception unchanged."""
    try:
        sketch = job.sketch()
        for piece in pieces:
            for first, batch in batches(piece, job):
                update(job, sketch, piece, first, batch)
        return SKETCH + bytes(sketch.to_bytes())
    except _errors.KINDS as error:
        return _ERROR + _errors.to_bytes(error)


def update(job: Job, sketch: Any, piece: Piece, first: int, batch: Any) -> None:
    """Add a batch of a file to a sketch.

    Raises:
        TypeError, ValueError: As the update of the sketch, with the file and the row in it.
    """
    try:
        job.update(sketch, batch)
    except (TypeError, ValueError) as error:
        raise _errors.about(piece.path, error, first) from error


def merge(sketch: Any, answer: bytes) -> None:
    """Merge an answer into a sketch, or raise the error that it is."""
    if answer[:1] != SKETCH:
        raise _errors.from_bytes(answer[1:])
    sketch.merge(type(sketch).from_bytes(answer[1:]))


def shares(pieces: Sequence[Piece], number: int) -> list[list[Piece]]:
    """The pieces in at most `number` parts: of those an engine holds all answers at once."""
    return [list(pieces[part::number]) for part in range(min(number, len(pieces)))]
