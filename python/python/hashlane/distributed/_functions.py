"""The functions that users call."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from .._groups import Groups
from .._native import RSS_PUBLISHED_KEY
from .._sketch import Distinct, HeavyHitters, Imbalance, Prefixes, Sketch, Spread
from ._job import Job, column_names, names_of
from ._run import run
from ._source import Source


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
    filesystem: Any = None,
) -> Spread:
    """Count the keys of each bucket; compare :class:`hashlane.Spread`.

    Args:
        source: Files of one schema: Parquet, Arrow IPC (`.arrow`, `.feather`) or CSV, by their ending. A
            pattern with `*`, a folder, a path, or a list of them; also of S3, as `s3://bucket/key`. A folder
            stands for the files in it and in folders `key=value` below it, but those that begin with `.` or
            `_`; for other subfolders give `folder/**/*.parquet`. Folders `key=value` in a path are columns of
            text. A folder of a Delta table, a metadata file of an Iceberg table, a `deltalake.DeltaTable` and
            a table of pyiceberg stand for the rows of the table's version. Other folders and patterns with
            files of a table are refused, as those files also hold deleted rows. The types of CSV columns are
            inferred: `007` becomes 7; convert such files to Parquet with the types that the keys have.
        columns: Name of the column of keys, or the names of four: source address and port, destination
            address and port.
        scheme, key, buckets, reduction: As :class:`hashlane.Spread` takes them.
        engine: `local`: threads of this process. Memory: a sketch and a few batches of 65,536 rows for each
            thread, and what pyarrow holds of the row groups that it decodes. `ray`, `daft`, `spark` and
            `dask`: tasks, to which the key is sent, on the cluster or session that is active; Ray and Spark
            are started on this machine if none is active.
        workers: Number of threads, or of tasks at a time, at most: 1 to 65,536. Default: the number of
            cores.
        filesystem: A file system of `pyarrow.fs` or fsspec that has the files; sent to the tasks with its
            credentials.

    Returns:
        The sketch of all files.

    Raises:
        FileNotFoundError: No file matches, a link has no file, or there is no such bucket.
        ModuleNotFoundError: pyarrow, the engine, or the library of a table is not installed.
        OSError: A file cannot be read, or a page in it is damaged; `PermissionError` if S3 denies access.
        RuntimeError: The engine failed, or its cluster ended.
        TypeError: A column or an argument is of a type that is not supported.
        ValueError: A file is damaged, lacks a column or has it in another type; the files belong to
            a table format; a row has a bad value; an argument is unknown or out of range; a total would pass
            2⁶³ − 1. The message names the file.
    """
    job = Job(Spread, (scheme, buckets, key), {"reduction": reduction}, column_names(columns))
    result: Spread = run(job, source, engine, workers, filesystem)
    return result


def distinct(
    source: Source,
    columns: Union[str, Sequence[str]],
    key: bytes,
    *,
    precision: int = 14,
    engine: str = "local",
    workers: Optional[int] = None,
    filesystem: Any = None,
) -> Distinct:
    """Estimate the number of distinct keys; compare :class:`hashlane.Distinct` and :func:`spread`."""
    job = Job(Distinct, (), {"precision": precision, "key": key}, column_names(columns))
    result: Distinct = run(job, source, engine, workers, filesystem)
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
    filesystem: Any = None,
) -> Prefixes:
    """Estimate the distinct prefixes by depth; compare :class:`hashlane.Prefixes` and :func:`spread`.

    Args:
        source, engine, workers, filesystem: As :func:`spread` takes them.
        column: Name of the column of names, encoded or as text; text is parsed by
            :func:`hashlane.parse_name`.
        encoding, key, precision: As :class:`hashlane.Prefixes` takes them.
    """
    job = Job(Prefixes, (encoding,), {"precision": precision, "key": key}, [column], encoding=encoding)
    result: Prefixes = run(job, source, engine, workers, filesystem)
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
    filesystem: Any = None,
) -> Imbalance:
    """Add up the load of queues; compare :class:`hashlane.Imbalance` and :func:`spread`.

    Args:
        source, engine, workers, filesystem: As :func:`spread` takes them.
        columns: Names of four columns: source address and port, destination address and port.
        function, n, key, candidates, rss_key: As :class:`hashlane.Imbalance` takes them.
        packets, bytes: Names of the columns of packets and bytes of each row.
    """
    names = column_names(columns)
    if len(names) != 4:
        raise ValueError(f"{len(names)} columns; expected four: src, sport, dst, dport")
    loads = {name: column for name, column in [("packets", packets), ("bytes", bytes)] if column is not None}
    options = {"candidates": candidates, "key": key, "rss_key": rss_key}
    job = Job(Imbalance, (function, n), options, names, loads)
    result: Imbalance = run(job, source, engine, workers, filesystem)
    return result


def heavy_hitters(
    source: Source,
    columns: Union[str, Sequence[str]],
    counters: int,
    *,
    weights: Optional[str] = None,
    engine: str = "local",
    workers: Optional[int] = None,
    filesystem: Any = None,
) -> HeavyHitters:
    """Find the keys with the largest weights; compare :class:`hashlane.HeavyHitters` and :func:`spread`.

    The counters depend on the order in which parts are merged, and so on the engine; the bound of the error
    and the keys above it do not.

    Args:
        source, engine, workers, filesystem: As :func:`spread` takes them.
        columns: Name of the column of keys, or the names of several, whose rows are the keys.
        counters: As :class:`hashlane.HeavyHitters` takes it.
        weights: Name of the column of weights; each is 1 if not given.
    """
    names = names_of("columns", columns)
    loads = {} if weights is None else {"weights": weights}
    options = {"columns": len(names)}
    job = Job(HeavyHitters, (counters,), options, names, loads, is_row=len(names) > 1)
    result: HeavyHitters = run(job, source, engine, workers, filesystem)
    return result


def groups(
    source: Source,
    by: Union[str, Sequence[str]],
    columns: Union[str, Sequence[str]],
    sketch: Sketch,
    *,
    most: int = 1 << 20,
    weights: Optional[str] = None,
    packets: Optional[str] = None,
    bytes: Optional[str] = None,
    engine: str = "local",
    workers: Optional[int] = None,
    filesystem: Any = None,
) -> Groups:
    """Make a sketch for each group of rows; compare :class:`hashlane.Groups` and :func:`spread`.

    Each thread or task has groups of its own, at most `most`, and the caller the merged ones.

    Args:
        source, engine, workers, filesystem: As :func:`spread` takes them.
        by: Names of the columns that name the groups; folders `key=value` are columns, too.
        columns: Names of the columns of the sketch: one of keys, or four of flows; for `HeavyHitters` as many
            as it has.
        sketch: A new `Distinct`, `Spread`, `Imbalance` or `HeavyHitters`, whose arguments all groups have.
        most: Most groups, 1 to 2²⁶. Data with more raises `ValueError`.
        weights, packets, bytes: Names of the columns of `HeavyHitters` and of `Imbalance`.

    Raises:
        TypeError, ValueError: Also if `sketch` is no sketch of these, or has keys.
    """
    names, keys = names_of("by", by), names_of("columns", columns)
    given = [("weights", weights), ("packets", packets), ("bytes", bytes)]
    loads = {name: column for name, column in given if column is not None}
    is_row = isinstance(sketch, HeavyHitters) and len(keys) > 1
    job = Job(Groups, (sketch,), {"most": most}, keys, loads, names, is_row)
    result: Groups = run(job, source, engine, workers, filesystem)
    result._names = names
    return result
