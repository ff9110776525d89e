"""The argument `source`: paths and tables, and the files that they stand for."""

from __future__ import annotations

import os
import posixpath
import re
from typing import Any, Iterable, Optional, Protocol, Sequence, Union

from . import _delta, _iceberg, _tables
from ._files import files, filesystem_of, wrapped
from ._piece import Piece, inside


class DeltaTable(Protocol):
    """A `deltalake.DeltaTable`."""

    @property
    def table_uri(self) -> str: ...

    def to_pyarrow_dataset(self) -> Any: ...


class IcebergTable(Protocol):
    """A table of pyiceberg."""

    @property
    def metadata_location(self) -> str: ...

    def scan(self) -> Any: ...


Path = Union[str, "os.PathLike[str]"]

#: Files: a path, a pattern such as `flows/*.parquet`, a folder, or several of them; or a table.
Source = Union[Path, DeltaTable, IcebergTable, Sequence[Union[Path, DeltaTable, IcebergTable]]]

_EXPECTED = "pass a path, a pattern such as flows/*.parquet, a folder, a table, or a list of them"


def resolve(
    source: Source, filesystem: Any, columns: Sequence[str]
) -> tuple[list[Piece], Any, Optional[_iceberg.Scan]]:
    """The files of a source in an order that does not depend on the file system, their file system, and the
    scan of an Iceberg table.

    Args:
        filesystem: Of pyarrow or fsspec; `None` for that of the paths.
        columns: Names of the columns that are read.

    Raises:
        FileNotFoundError: Nothing matches, or a link to no file does.
        ModuleNotFoundError: The library of a table is not installed.
        TypeError: The source is no path, no table, and no list of them.
        ValueError: The source is empty; a table cannot be read through its log; a format is unknown; or a
            folder or a pattern stands for some files of a table.
    """
    given = _given(source)
    table = next((each for each in given if _is_iceberg(each, filesystem)), None)
    if table is not None:
        if len(given) > 1:
            raise ValueError(
                f"{_name(table)}: a table of Iceberg beside other sources; call the function for each, and "
                "merge the sketches"
            )
        if filesystem is not None:
            _tables.refuse(_name(table), [_name(table)], lambda _: _tables.ICEBERG)
        opened = _iceberg.open_table(table) if isinstance(table, str) else table
        scan, found = _iceberg.plan(opened, columns)
        return sorted(found, key=lambda piece: piece.path), None, scan
    own = None if filesystem is None else wrapped(filesystem)
    used = filesystem_of([_name(each) for each in given]) if own is None else own
    pieces: dict[str, Piece] = {}
    for each in given:
        for piece in _pieces(each, used, has_own=own is not None):
            pieces[piece.path] = piece
    return [piece for _, piece in sorted(pieces.items())], used, None


def _pieces(each: Any, filesystem: Any, has_own: bool) -> Iterable[Piece]:
    if not isinstance(each, str):
        folder = _delta.address(each)
        # A file system of the caller has paths without a scheme.
        return _delta.pieces(each, re.sub(r"^[a-z0-9+.-]+://", "", folder) if has_own else folder)
    if not has_own and _tables.kind_of(inside(each), filesystem) == _tables.DELTA:
        folder = each.rstrip("/") or each
        return _delta.pieces(_delta.open_table(folder), folder)
    return files([each], filesystem)


def _given(source: Any) -> list[Any]:
    """Paths as text, and tables."""
    given: list[Any]
    if isinstance(source, (str, os.PathLike)) or _is_table(source):
        given = [source]
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        given = list(source)
    else:
        raise TypeError(f"source is {source!r}; {_EXPECTED}")
    if not given:
        raise ValueError(f"source is empty; {_EXPECTED}")
    given = [os.fspath(each) if isinstance(each, (str, os.PathLike)) else each for each in given]
    for each in given:
        if not isinstance(each, str) and not _is_table(each):
            raise TypeError(f"source has {each!r}; {_EXPECTED}")
    return given


def _is_table(source: Any) -> bool:
    return _library(source) in ("deltalake", "pyiceberg")


def _library(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _name(source: Any) -> str:
    """The path of a source, or the address of a table."""
    if isinstance(source, str):
        return source
    return str(source.metadata_location) if _library(source) == "pyiceberg" else _delta.address(source)


def _is_iceberg(source: Any, filesystem: Any) -> bool:
    """True for a table that pyiceberg can open: its own, a metadata file, or a folder with a version hint."""
    if not isinstance(source, str):
        return _library(source) == "pyiceberg"
    if source.endswith(_iceberg.METADATA):
        return True
    hint = posixpath.join(source, "metadata", _iceberg.HINT)
    return filesystem is None and os.path.isfile(hint) and _tables.local(source) == _tables.ICEBERG
