"""The files of a data set."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import posixpath
import re
from typing import Any, Iterable, Sequence

from . import _hive, _tables
from ._errors import NO_BUCKET, about
from ._piece import S3, Piece, inside

#: Formats by the ending of a file.
_FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc", ".csv": "csv"}

#: Scheme of an address: of two letters or more.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def filesystem_of(paths: Sequence[str]) -> Any:
    """The file system of paths `s3://…`, as pyarrow makes it of the environment; `None` for local paths."""
    for path in paths:
        scheme = _SCHEME.match(path)
        if scheme and scheme[0] != S3 and not os.path.exists(path):
            raise ValueError(
                f"{path}: no file system for {scheme[0]}; pass the path without it, and filesystem=: one of "
                f"pyarrow.fs, or fsspec.filesystem({scheme[0].partition(':')[0]!r})"
            )
    remote = [path for path in paths if path.startswith(S3)]
    if not remote:
        return None
    if len(remote) < len(paths):
        [local, *_] = [path for path in paths if not path.startswith(S3)]
        next_step = "call the function for each, and merge the sketches"
        raise ValueError(f"{local}: not on S3 like {remote[0]}; {next_step}")
    from pyarrow import fs

    # The region is the first bucket's, unless the environment has one.
    bucket = inside(remote[0]).split("/")[0]
    try:
        return fs.FileSystem.from_uri(f"{S3}{bucket}")[0]
    except (OSError, ValueError) as error:
        raise about(remote[0], error) from error


def wrapped(filesystem: Any) -> Any:
    """A file system of pyarrow, of one of pyarrow or of fsspec.

    Raises:
        TypeError: Another object.
    """
    from pyarrow import fs

    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if hasattr(filesystem, "protocol") and hasattr(filesystem, "open"):
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    raise TypeError(f"filesystem is {filesystem!r}; expected a file system of pyarrow.fs or of fsspec")


def files(paths: Iterable[str], filesystem: Any) -> list[Piece]:
    """The files of paths, patterns and folders, with the columns of folders `key=value` above them.

    Raises:
        FileNotFoundError: Nothing matches, or a link to no file does.
        ValueError: The format of a file is unknown; or a folder or a pattern stands for files of a table of
            Delta, Iceberg or Hudi. A file that is named itself is taken.
    """
    found: dict[str, int] = {}
    for path in paths:
        try:
            matches = dict(_local(path) if filesystem is None else _remote(path, filesystem))
        except _Dangling as error:
            raise FileNotFoundError(str(error)) from None
        except OSError as error:
            raise about(path, error) from error
        if not matches:
            raise _none(path, filesystem)
        found.update(matches)
    return [Piece(path, _format(path), size, values=_hive.values(path)) for path, size in found.items()]


def _local(path: str) -> Iterable[tuple[str, int]]:
    if os.path.isdir(path):
        matches = list(_below(path, frozenset()))
        folders = {os.path.realpath(os.path.dirname(match)) for match in matches}
        _tables.refuse(path, {os.path.realpath(path), *folders}, _tables.local)
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


def _below(folder: str, above: frozenset[str]) -> Iterable[str]:
    """The files in a folder, and in folders `key=value` below it. `above` has the folders above it."""
    real = os.path.realpath(folder)
    if real in above:
        raise OSError(f"{folder}: a link to a folder above it; remove the link")
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if _hive.is_partition(name) and os.path.isdir(path):
            yield from _below(path, above | {real})
        elif _is_read(name) or (_hive.is_partition(name) and not os.path.exists(path)):
            # A link to no folder is not left out, but an error.
            yield path


class _Dangling(Exception):
    """A link to a file that does not exist."""


def _is_read(path: str) -> bool:
    """True for files that a folder stands for: not for hidden ones, nor for `_metadata` and its like."""
    return _ending(path) in _FORMATS and not posixpath.basename(path).startswith((".", "_"))


def _remote(path: str, filesystem: Any) -> Iterable[tuple[str, int]]:
    from pyarrow import fs

    prefix, place = path[: len(path) - len(inside(path))], inside(path).rstrip("/")
    # A key of S3 may hold any character: a file with this very name comes first.
    info = filesystem.get_file_info(place)
    if info.type == fs.FileType.File:
        return [(prefix + place, info.size)]
    if info.type == fs.FileType.Directory:
        entries = filesystem.get_file_info(fs.FileSelector(place))
        deep = any(_is_partition(entry) for entry in entries)
        if deep:
            entries = filesystem.get_file_info(fs.FileSelector(place, recursive=True))
        below = f"{place}/" if place else ""
        listed = [file for file in entries if _is_read(file.path) and _is_below(file.path[len(below) :])]
        folders = {place, *(posixpath.dirname(file.path) for file in listed)}
        _tables.refuse(path, folders, _tables.remote(filesystem, place, entries, deep))
    elif glob.has_magic(place):
        parts = place.split("/")
        fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
        below = "/".join(parts[:fixed])
        deep = len(parts) > fixed + 1 or parts[-1] == "**"
        entries = filesystem.get_file_info(fs.FileSelector(below, allow_not_found=True, recursive=deep))
        listed = [file for file in entries if _matches(file.path, place)]
        folders = {posixpath.dirname(file.path) for file in listed}
        _tables.refuse(path, folders, _tables.remote(filesystem, below, entries, deep))
    else:
        return []
    return [(prefix + file.path, file.size) for file in listed if file.type == fs.FileType.File]


def _is_partition(entry: Any) -> bool:
    from pyarrow import fs

    return entry.type == fs.FileType.Directory and _hive.is_partition(posixpath.basename(entry.path))


def _is_below(path: str) -> bool:
    """True for a file in its folder or in folders `key=value` below that one."""
    return all(map(_hive.is_partition, path.split("/")[:-1]))


def _none(path: str, filesystem: Any) -> FileNotFoundError:
    if getattr(filesystem, "type_name", None) == "s3":
        from pyarrow import fs

        bucket = inside(path).split("/")[0]
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


def _ending(path: str) -> str:
    return posixpath.splitext(path)[1]


def _format(path: str) -> str:
    ending = _ending(path)
    try:
        return _FORMATS[ending]
    except KeyError:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{path}: files end with one of {known}, not with {ending!r}") from None
