"""The rows of files."""

from __future__ import annotations

from typing import Any, Iterator

from ._errors import about
from ._job import Job
from ._piece import Piece

#: Rows of a batch.
_BATCH = 1 << 16

#: Bytes of a file that is one piece, whatever its rows: its end is not read to plan the work.
_SMALL = 8 << 20


def types(piece: Piece, job: Job) -> list[Any]:
    """The types of the columns of a job in a file, or in its table.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is damaged, or lacks a column.
    """
    if job.scan is not None:
        return job.scan.types(job.needed())
    return _types(piece, job, None if piece.schema is not None else _fragment(piece, job).physical_schema)


def _types(piece: Piece, job: Job, held: Any) -> list[Any]:
    """As :func:`types`, of a file with the schema `held`, which that of a table replaces."""
    known = {name: value.type for name, value in piece.values.items()}
    known.update((field.name, field.type) for field in (held if piece.schema is None else piece.schema))
    missing = [name for name in job.needed() if name not in known]
    if missing:
        raise ValueError(f"{piece.path}: no column {missing[0]!r}; there are {', '.join(known)}")
    return [known[name] for name in job.needed()]


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
    held = None if job.scan is not None else _fragment(piece, job).physical_schema
    kinds = job.types if held is None else _types(piece, job, held)
    for name, kind, first in zip(job.needed(), kinds, job.types):
        if kind != first:
            about_types = f"column {name!r} is of type {kind}, but {first} in {job.first}; cast one of them"
            raise ValueError(f"{piece.path}: {about_types}")
    row = piece.first
    try:
        for batch in _open(piece, job, held):
            # The other formats are decoded; this one is memory as the file has it.
            if piece.format == "ipc":
                _check(piece.path, batch)
            yield row, _completed(piece, job, batch)
            row += len(batch)
    except _failures() as error:
        raise about(piece.path, error) from error


def _completed(piece: Piece, job: Job, batch: Any) -> Any:
    """A batch with the columns of a job: also with those that the file lacks."""
    import pyarrow

    if batch.schema.names == job.needed() and piece.schema is None:
        return batch
    columns = []
    for name, kind in zip(job.needed(), job.types):
        if name in batch.schema.names:
            column = batch.column(name)
            columns.append(column if column.type == kind else column.cast(kind))
        elif name in piece.values:
            columns.append(pyarrow.repeat(piece.values[name][0], len(batch)))
        else:
            columns.append(pyarrow.nulls(len(batch), kind))
    return pyarrow.record_batch(columns, job.needed())


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


def _open(piece: Piece, job: Job, held: Any) -> Any:
    if job.scan is not None:
        return job.scan.batches(piece, _BATCH)
    # A Delta table has its partitions in the log alone, whatever its files have.
    values = piece.values if piece.schema is not None else ()
    columns = [name for name in job.needed() if name in held.names and name not in values]
    if piece.format == "parquet":
        from pyarrow import parquet

        # A scanner of a data set reads row groups ahead without a limit when their consumer is slow.
        options = {"filesystem": job.filesystem, "pre_buffer": False, "buffer_size": 1 << 16}
        file = parquet.ParquetFile(piece.inside(), **options)
        return file.iter_batches(batch_size=_BATCH, row_groups=piece.row_groups, columns=columns)
    scanner = _fragment(piece, job).scanner(columns=columns, batch_size=_BATCH, batch_readahead=4)
    return scanner.to_batches()
