"""The rows of files."""

from __future__ import annotations

from typing import Any, Iterator

from ._errors import about
from ._files import Piece
from ._job import Job

#: Rows of a batch.
_BATCH = 1 << 16

#: Bytes of a file that is one piece, whatever its rows: its end is not read to plan the work.
_SMALL = 8 << 20


def types(piece: Piece, job: Job) -> Any:
    """The types of the columns of a job in a file.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is damaged, or lacks a column.
    """
    schema = _fragment(piece, job).physical_schema
    missing = [name for name in job.needed() if name not in schema.names]
    if missing:
        raise ValueError(f"{piece.path}: no column {missing[0]!r}; there are {', '.join(schema.names)}")
    return [schema.field(name).type for name in job.needed()]


def split(piece: Piece, job: Job, least: int) -> Iterator[Piece]:
    """Pieces of a file of whole row groups, of `least` rows or more but the last."""
    if piece.format != "parquet" or piece.size < _SMALL:
        yield piece
        return
    groups: list[int] = []
    rows = first = 0
    for group in _fragment(piece, job).row_groups:
        groups.append(group.id)
        rows += group.num_rows
        if rows >= least:
            yield piece._replace(row_groups=groups, first=first)
            groups, rows, first = [], 0, first + rows
    if groups:
        yield piece._replace(row_groups=groups, first=first)


def batches(piece: Piece, job: Job) -> Iterator[tuple[int, Any]]:
    """Number of the first row in the file, and columns of each batch.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is damaged, or has other columns than the first.
    """
    for name, kind, first in zip(job.needed(), types(piece, job), job.types):
        if kind != first:
            about_types = f"column {name!r} is of type {kind}, but {first} in {job.first}; cast one of them"
            raise ValueError(f"{piece.path}: {about_types}")
    row = piece.first
    try:
        for batch in _open(piece, job):
            # The other formats are decoded; this one is memory as the file has it.
            if piece.format == "ipc":
                _check(piece.path, batch)
            yield row, batch
            row += len(batch)
    except _failures() as error:
        raise about(piece.path, error) from error


def _check(path: str, batch: Any) -> None:
    import pyarrow

    try:
        batch.validate(full=True)
    except pyarrow.ArrowInvalid as error:
        cause = " ".join(str(error).split())
        raise ValueError(f"{path}: damaged: {cause}; replace the file or leave it out") from error


def _failures() -> tuple[type[Exception], ...]:
    import pyarrow

    return (OSError, ValueError, TypeError, pyarrow.ArrowException)


def _fragment(piece: Piece, job: Job) -> Any:
    from pyarrow import dataset

    try:
        data = dataset.dataset(piece.inside(), format=piece.format, filesystem=job.filesystem)
        [fragment] = data.get_fragments()
        fragment.physical_schema
        return fragment
    except _failures() as error:
        raise about(piece.path, error) from error


def _open(piece: Piece, job: Job) -> Any:
    if piece.format == "parquet":
        from pyarrow import parquet

        # A scanner of a data set reads row groups ahead without a limit when their consumer is slow.
        options = {"filesystem": job.filesystem, "pre_buffer": False, "buffer_size": 1 << 16}
        file = parquet.ParquetFile(piece.inside(), **options)
        return file.iter_batches(batch_size=_BATCH, row_groups=piece.row_groups, columns=job.needed())
    scanner = _fragment(piece, job).scanner(columns=job.needed(), batch_size=_BATCH, batch_readahead=4)
    return scanner.to_batches()
