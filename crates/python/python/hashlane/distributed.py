"""Sketches of data sets that are larger than memory, over all cores or on a cluster.

Every function returns the sketch of :mod:`hashlane` with the same name. Engines differ in speed alone: the
bytes of the sketch are the same.
"""

from __future__ import annotations

import glob
import os
import re
import threading
from concurrent import futures
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

from ._names import parse_name
from ._native import RSS_PUBLISHED_KEY
from ._sketch import Distinct, Imbalance, Prefixes, Spread

__all__ = ["ENGINES", "distinct", "imbalance", "prefixes", "spread"]

#: Engines: `local`, the threads of this process, and `ray`, tasks of Ray.
ENGINES = ("local", "ray")

#: Files: a path, a pattern such as `flows/*.parquet`, a folder, or several of them.
Source = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

#: Rows of a batch.
_BATCH = 1 << 16

#: Formats by the ending of a file.
_FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc", ".csv": "csv"}


def spread(
    source: Source,
    columns: Union[str, Sequence[str]],
    scheme: str,
    key: Optional[bytes] = None,
    *,
    buckets: int = 1 << 16,
    reduction: str = "remainder",
    engine: str = "local",
    workers: Optional[int] = None,
) -> Spread:
    """Count the keys of each bucket; compare :class:`hashlane.Spread`.

    Args:
        source: Files of one schema: Parquet, Arrow IPC (`.arrow`, `.feather`) or CSV, by their ending. A
            pattern with `*`, a folder, a path, or a list of them.
        columns: Name of the column of keys, or the names of four: source address and port, destination
            address and port.
        scheme, key, buckets, reduction: As :class:`hashlane.Spread` takes them.
        engine: `local`: threads of this process. Memory: a sketch and a few batches of 65,536 rows for each
            thread, and what pyarrow holds of the row groups that it decodes. `ray`: tasks of Ray, to which
            the key is sent; starts a local cluster unless `ray.init` was called.
        workers: Number of threads, or of tasks at a time; that of the cores if not given.

    Returns:
        The sketch of all files.

    Raises:
        FileNotFoundError: No file matches.
        ModuleNotFoundError: pyarrow or the engine is not installed.
        OSError: A file cannot be read.
        ValueError: A file is damaged, lacks a column or has it in another type; a row has a bad value; an
            argument is unknown or out of range. The message names the file.
    """
    job = _Job(Spread, (scheme, buckets, key), {"reduction": reduction}, _names(columns))
    result: Spread = _run(job, source, engine, workers)
    return result


def distinct(
    source: Source,
    columns: Union[str, Sequence[str]],
    key: bytes,
    *,
    precision: int = 14,
    engine: str = "local",
    workers: Optional[int] = None,
) -> Distinct:
    """Estimate the number of distinct keys; compare :class:`hashlane.Distinct` and :func:`spread`."""
    job = _Job(Distinct, (), {"precision": precision, "key": key}, _names(columns))
    result: Distinct = _run(job, source, engine, workers)
    return result


def prefixes(
    source: Source,
    column: str,
    encoding: str,
    key: bytes,
    *,
    precision: int = 12,
    engine: str = "local",
    workers: Optional[int] = None,
) -> Prefixes:
    """Estimate the distinct prefixes by depth; compare :class:`hashlane.Prefixes` and :func:`spread`.

    Args:
        source, engine, workers: As :func:`spread` takes them.
        column: Name of the column of names, encoded or as text; text is parsed by
            :func:`hashlane.parse_name`.
        encoding, key, precision: As :class:`hashlane.Prefixes` takes them.
    """
    job = _Job(Prefixes, (encoding,), {"precision": precision, "key": key}, [column], encoding=encoding)
    result: Prefixes = _run(job, source, engine, workers)
    return result


def imbalance(
    source: Source,
    columns: Sequence[str],
    function: str,
    n: int,
    key: bytes,
    *,
    candidates: int = 0,
    rss_key: bytes = RSS_PUBLISHED_KEY,
    packets: Optional[str] = None,
    bytes: Optional[str] = None,
    engine: str = "local",
    workers: Optional[int] = None,
) -> Imbalance:
    """Add up the load of queues; compare :class:`hashlane.Imbalance` and :func:`spread`.

    Args:
        source, engine, workers: As :func:`spread` takes them.
        columns: Names of four columns: source address and port, destination address and port.
        function, n, key, candidates, rss_key: As :class:`hashlane.Imbalance` takes them.
        packets, bytes: Names of the columns of packets and bytes of each row.
    """
    names = _names(columns)
    if len(names) != 4:
        raise ValueError(f"{len(names)} columns; expected four: src, sport, dst, dport")
    loads = {name: column for name, column in [("packets", packets), ("bytes", bytes)] if column is not None}
    options = {"candidates": candidates, "key": key, "rss_key": rss_key}
    job = _Job(Imbalance, (function, n), options, names, loads)
    result: Imbalance = _run(job, source, engine, workers)
    return result


class _Job(NamedTuple):
    """A sketch and the columns that it takes, as it is sent to workers."""

    kind: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    columns: list[str]
    #: Arguments of updates by name, and their columns.
    loads: dict[str, str] = {}
    #: Encoding of names that are text.
    encoding: Optional[str] = None

    def sketch(self) -> Any:
        return self.kind(*self.arguments, **self.options)

    def needed(self) -> list[str]:
        return list(dict.fromkeys([*self.columns, *self.loads.values()]))

    def update(self, sketch: Any, batch: Any) -> None:
        import pyarrow

        columns = [batch.column(name) for name in self.columns]
        if self.encoding and _is_text(pyarrow, columns[0].type):
            columns = [parse_name(columns[0], self.encoding)]
        sketch.update(*columns, **{name: batch.column(column) for name, column in self.loads.items()})


class _Piece(NamedTuple):
    """Part of a file: all of it, or some row groups."""

    path: str
    format: str
    row_groups: Optional[list[int]] = None
    #: Number of the first row in the file.
    first: int = 0


def _is_text(pyarrow: Any, kind: Any) -> bool:
    kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
    return kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())


def _names(columns: Union[str, Sequence[str]]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if len(names) not in (1, 4) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns {names}; expected one name, or four: src, sport, dst, dport")
    return names


def _files(source: Source) -> list[_Piece]:
    """The files in an order that does not depend on the file system."""
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    found: set[str] = set()
    for path in [os.fspath(path) for path in given]:
        if os.path.isdir(path):
            matches = [os.path.join(path, name) for name in os.listdir(path)]
            matches = [match for match in matches if os.path.splitext(match)[1] in _FORMATS]
        else:
            matches = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
        matches = [match for match in matches if os.path.isfile(match)]
        if not matches:
            raise FileNotFoundError(f"{path}: no file; give a path, a folder or a pattern such as flows/*.parquet")
        found.update(matches)
    return [_Piece(path, _format(path)) for path in sorted(found)]


def _format(path: str) -> str:
    ending = os.path.splitext(path)[1]
    try:
        return _FORMATS[ending]
    except KeyError:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{path}: files end with one of {known}, not with {ending!r}") from None


def _fragment(piece: _Piece) -> Any:
    from pyarrow import dataset

    try:
        [fragment] = dataset.dataset(piece.path, format=piece.format).get_fragments()
        fragment.physical_schema
        return fragment
    except (OSError, ValueError) as error:
        raise _about(piece.path, error) from error


def _schema(piece: _Piece, columns: list[str]) -> Any:
    """The types of the columns in a file."""
    schema = _fragment(piece).physical_schema
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise ValueError(f"{piece.path}: no column {missing[0]!r}; there are {', '.join(schema.names)}")
    return [schema.field(name).type for name in columns]


def _read(piece: _Piece, columns: list[str]) -> Any:
    """Batches of the columns of a piece."""
    if piece.format == "parquet":
        from pyarrow import parquet

        # A scanner of a data set reads row groups ahead without a limit when their consumer is slow.
        file = parquet.ParquetFile(piece.path, pre_buffer=False, buffer_size=1 << 16)
        return file.iter_batches(batch_size=_BATCH, row_groups=piece.row_groups, columns=columns)
    return _fragment(piece).scanner(columns=columns, batch_size=_BATCH, batch_readahead=4).to_batches()


def _batches(pieces: Iterable[_Piece], columns: list[str], types: Any) -> Iterator[tuple[str, int, Any]]:
    """File, number of the first row, and columns of each batch."""
    for piece in pieces:
        own = _schema(piece, columns)
        for name, kind, first in zip(columns, own, types):
            if kind != first:
                raise ValueError(f"{piece.path}: column {name!r} is of type {kind}, but {first} in the first file")
        first = piece.first
        try:
            for batch in _read(piece, columns):
                yield piece.path, first, batch
                first += len(batch)
        except (OSError, ValueError) as error:
            raise _about(piece.path, error) from error


def _about(path: str, error: Exception, first: int = 0) -> Exception:
    """The error with the file that it is about, and the row in the file in place of that in a batch."""
    row = re.match(r"row (\d+)(?=: )", str(error))
    if row is not None:
        return ValueError(f"{path}: row {int(row[1]) + first}{str(error)[row.end():]}")
    kind = OSError if isinstance(error, OSError) else TypeError if isinstance(error, TypeError) else ValueError
    return error if path in str(error) else kind(f"{path}: {error}")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run(job: _Job, source: Source, engine: str, workers: Optional[int]) -> Any:
    if engine not in ENGINES:
        raise ValueError(f"engine {engine!r} is not supported; there are {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}, but must be at least 1")
    # Before any file is read: errors of arguments.
    sketch = job.sketch()
    pieces = _files(source)
    types = _schema(pieces[0], job.needed())
    if engine == "ray":
        return _on_ray(job, sketch, pieces, types, workers)
    for part in _on_threads(job, pieces, types, workers or _cores()):
        sketch.merge(part)
    return sketch


def _on_threads(job: _Job, pieces: list[_Piece], types: Any, workers: int) -> list[Any]:
    """A sketch of each thread, which take batches of one stream in turn."""
    batches, lock, stop = _batches(pieces, job.needed(), types), threading.Lock(), threading.Event()

    def work() -> Any:
        sketch = job.sketch()
        try:
            while not stop.is_set():
                with lock:
                    path, first, batch = next(batches, ("", 0, None))
                if batch is None:
                    break
                try:
                    job.update(sketch, batch)
                except (TypeError, ValueError) as error:
                    raise _about(path, error, first) from error
        except BaseException:
            stop.set()
            raise
        return sketch

    with futures.ThreadPoolExecutor(workers) as pool:
        started = [pool.submit(work) for _ in range(workers)]
        try:
            # Not for ever: signals are handled between two calls.
            while futures.wait(started, timeout=0.1).not_done:
                pass
        finally:
            stop.set()
    return [future.result() for future in started]


def _work(job: _Job, piece: _Piece, types: Any) -> bytes:
    """The bytes of the sketch of a piece: a task of Ray."""
    sketch = job.sketch()
    for path, first, batch in _batches([piece], job.needed(), types):
        try:
            job.update(sketch, batch)
        except (TypeError, ValueError) as error:
            raise _about(path, error, first) from error
    data: bytes = sketch.to_bytes()
    return data


#: Rows of a task, at least, if the file has row groups.
_TASK = 1 << 22


def _split(piece: _Piece) -> Iterator[_Piece]:
    """Pieces of a file of whole row groups."""
    if piece.format != "parquet":
        yield piece
        return
    groups: list[int] = []
    rows = first = 0
    for group in _fragment(piece).row_groups:
        groups.append(group.id)
        rows += group.num_rows
        if rows >= _TASK:
            yield piece._replace(row_groups=groups, first=first)
            groups, rows, first = [], 0, first + rows
    if groups:
        yield piece._replace(row_groups=groups, first=first)


def _on_ray(job: _Job, sketch: Any, pieces: list[_Piece], types: Any, workers: Optional[int]) -> Any:
    """Merge the sketches of tasks as they end; Ray repeats a task whose worker died."""
    import ray

    task = ray.remote(max_retries=5)(_work)
    if not ray.is_initialized():
        ray.init()
    most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    shared, running = ray.put(job), []
    todo = (part for piece in pieces for part in _split(piece))
    try:
        while True:
            for piece in todo:
                running.append(task.remote(shared, piece, types))
                if len(running) >= most:
                    break
            if not running:
                return sketch
            ended, running = ray.wait(running, num_returns=1)
            for part in ray.get(ended):
                sketch.merge(type(sketch).from_bytes(part))
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        raise (cause if isinstance(cause, (OSError, ValueError, TypeError)) else error) from None
    finally:
        for left in running:
            ray.cancel(left)
