"""The files of a data set."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import posixpath
import re
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

from . import _tables
from ._errors import NO_BUCKET, about

#: Files: a path, a pattern such as `flows/*.parquet`, a folder, or several of them.
Source = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

#: Formats by the ending of a file.
_FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc", ".csv": "csv"}

_S3 = "s3://"

#: Scheme of an address: of two letters or more.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Piece(NamedTuple):
    """Part of a file: all of it, or some row groups."""

    path: str
    format: str
    #: Size of the file in bytes.
    size: int = 0
    row_groups: Optional[list[int]] = None
    #: Number of the first row in the file.
    first: int = 0

    def inside(self) -> str:
        """The path in its file system: without `s3://`."""
        return _inside(self.path)


def filesystem_of(source: Source) -> Any:
    """The file system of paths `s3://…`, as pyarrow makes it of the environment; `None` for local paths."""
    paths = _paths(source)
    for path in paths:
        scheme = _SCHEME.match(path)
        if scheme and scheme[0] != _S3 and not os.path.exists(path):
            raise ValueError(
                f"{path}: no file system for {scheme[0]}; pass the path without it, and filesystem=: one of "
                "pyarrow.fs, or PyFileSystem(FSSpecHandler(…)) of pyarrow.fs around one of fsspec"
            )
    remote = [path for path in paths if path.startswith(_S3)]
    if not remote:
        return None
    if len(remote) < len(paths):
        [local, *_] = [path for path in paths if not path.startswith(_S3)]
        next_step = "call the function for each, and merge the sketches"
        raise ValueError(f"{local}: not on S3 like {remote[0]}; {next_step}")
    from pyarrow import fs

    # The region is the first bucket's, unless the environment has one.
    bucket = _inside(remote[0]).split("/")[0]
    try:
        return fs.FileSystem.from_uri(f"{_S3}{bucket}")[0]
    except (OSError, ValueError) as error:
        raise about(remote[0], error) from error


def files(source: Source, filesystem: Any) -> list[Piece]:
    """The files in an order that does not depend on the file system.

    Raises:
        FileNotFoundError: Nothing matches, or a link to no file does.
        TypeError: The source is no path and no list of paths.
        ValueError: The format of a file is unknown, the source is an empty list, or a folder or a pattern
            stands for files of a table of Delta, Iceberg or Hudi. A file that is named itself is taken.
    """
    found: dict[str, int] = {}
    for path in _paths(source):
        try:
            matches = dict(_local(path) if filesystem is None else _remote(path, filesystem))
        except _Dangling as error:
            raise FileNotFoundError(str(error)) from None
        except OSError as error:
            raise about(path, error) from error
        if not matches:
            raise _none(path, filesystem)
        found.update(matches)
    return [Piece(path, _format(path), size) for path, size in sorted(found.items())]


def _paths(source: Source) -> list[str]:
    given: list[Any]
    if isinstance(source, (str, os.PathLike)):
        given = [source]
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, bytearray)):
        given = list(source)
    else:
        raise TypeError(f"source is {source!r}; {_EXPECTED}")
    if not given:
        raise ValueError(f"source is empty; {_EXPECTED}")
    paths = [os.fspath(path) if isinstance(path, (str, os.PathLike)) else path for path in given]
    for path in paths:
        if not isinstance(path, str):
            raise TypeError(f"source has {path!r}; {_EXPECTED}")
    return paths


_EXPECTED = "pass a path, a pattern such as flows/*.parquet, a folder, or a list of them"


def _local(path: str) -> Iterable[tuple[str, int]]:
    if os.path.isdir(path):
        matches = [os.path.join(path, name) for name in os.listdir(path) if _is_read(name)]
        _tables.refuse(path, [os.path.realpath(path)], _tables.local)
    elif os.path.exists(path):
        matches = [path]
    else:
        matches = glob.glob(path, recursive=True)
        _tables.refuse(path, {os.path.realpath(os.path.dirname(match)) for match in matches}, _tables.local)
    for match in matches:
        if os.path.islink(match) and not os.path.exists(match):
            target = os.readlink(match)
            next_step = "restore the file or remove the link"
            raise _Dangling(f"{match}: a link to {target}, which does not exist; {next_step}")
    return [(match, os.path.getsize(match)) for match in matches if os.path.isfile(match)]


class _Dangling(Exception):
    """A link to a file that does not exist."""


def _is_read(path: str) -> bool:
    """True for files that a folder stands for: not for hidden ones, nor for `_metadata` and its like."""
    return _ending(path) in _FORMATS and not posixpath.basename(path).startswith((".", "_"))


def _remote(path: str, filesystem: Any) -> Iterable[tuple[str, int]]:
    from pyarrow import fs

    prefix, inside = path[: len(path) - len(_inside(path))], _inside(path).rstrip("/")
    # A key of S3 may hold any character: a file with this very name comes first.
    info = filesystem.get_file_info(inside)
    if info.type == fs.FileType.File:
        return [(prefix + inside, info.size)]
    if info.type == fs.FileType.Directory:
        entries = filesystem.get_file_info(fs.FileSelector(inside))
        listed = [file for file in entries if _is_read(file.path)]
        _tables.refuse(path, [inside], _tables.remote(filesystem, inside, entries, recursive=False))
    elif glob.has_magic(inside):
        parts = inside.split("/")
        fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
        below = "/".join(parts[:fixed])
        deep = len(parts) > fixed + 1 or parts[-1] == "**"
        entries = filesystem.get_file_info(fs.FileSelector(below, allow_not_found=True, recursive=deep))
        listed = [file for file in entries if _matches(file.path, inside)]
        folders = {posixpath.dirname(file.path) for file in listed}
        _tables.refuse(path, folders, _tables.remote(filesystem, below, entries, deep))
    else:
        return []
    return [(prefix + file.path, file.size) for file in listed if file.type == fs.FileType.File]


def _none(path: str, filesystem: Any) -> FileNotFoundError:
    if getattr(filesystem, "type_name", None) == "s3":
        from pyarrow import fs

        bucket = _inside(path).split("/")[0]
        # Whoever may list a folder need not be allowed to look at its bucket.
        with contextlib.suppress(OSError):
            if filesystem.get_file_info(bucket).type == fs.FileType.NotFound:
                return FileNotFoundError(f"{path}: {NO_BUCKET}")
    return FileNotFoundError(f"{path}: no file; give a path, a folder or a pattern such as flows/*.parquet")


def _matches(path: str, pattern: str) -> bool:
    """The rule of :func:`glob.glob`: `*` within a folder, `**` through all, neither of them hidden files."""
    parts, wanted = path.split("/"), pattern.split("/")
    # Numbers of the parts of the pattern that the parts of the path so far can have reached.
    reached = _skip({0}, wanted)
    for part in parts:
        after: set[int] = set()
        for number in reached:
            if number == len(wanted):
                continue
            if wanted[number] == "**":
                after |= set() if part.startswith(".") else {number}
            elif _is_like(part, wanted[number]):
                after.add(number + 1)
        reached = _skip(after, wanted)
    return len(wanted) in reached or (wanted[-1] == "**" and len(wanted) - 1 in reached)


def _is_like(part: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(part, wanted) and part.startswith(".") <= wanted.startswith(".")


def _skip(reached: set[int], wanted: list[str]) -> set[int]:
    """A part `**` stands for no folder, too."""
    skipped = set(reached)
    for number in range(len(wanted)):
        if number in skipped and wanted[number] == "**":
            skipped.add(number + 1)
    return skipped


def _inside(path: str) -> str:
    return re.sub(rf"^{_S3}", "", path)


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1]


def _format(path: str) -> str:
    ending = _ending(path)
    try:
        return _FORMATS[ending]
    except KeyError:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{path}: files end with one of {known}, not with {ending!r}") from None
