"""Folders of table formats: their files also hold rows that were deleted or replaced."""

from __future__ import annotations

import contextlib
import functools
import glob
import os
import posixpath
from typing import Any, Callable, Iterable, Optional

#: Format of the table that is in a folder.
Probe = Callable[[str], Optional[str]]

DELTA, _HUDI, ICEBERG = "Delta", "Hudi", "Iceberg"

#: Folders that only the log of a table has, and the format.
_LOGS = {"_delta_log": DELTA, ".hoodie": _HUDI}

#: Folder of an Iceberg table with the files that list its data files.
_METADATA = "metadata"

#: Next steps by format: for a folder or a pattern within a table, and for a file system of the caller.
_NEXT = {
    DELTA: "pass the folder of the table, without filesystem=, or a deltalake.DeltaTable",
    _HUDI: "update a sketch with the batches of the package hudi, or pass the list of files of its timeline",
    ICEBERG: "pass a table of pyiceberg, or the path of its current .metadata.json file, without filesystem=",
}


def refuse(path: str, folders: Iterable[str], probe: Probe) -> None:
    """Check that no folder is in a table.

    Args:
        path: The source, for the error.
        folders: The folders with the files that the source stands for.

    Raises:
        ValueError: One is, with the next step.
    """
    probe = functools.lru_cache(maxsize=None)(probe)
    for folder in sorted(set(folders)):
        while True:
            kind = probe(folder)
            if kind is not None:
                where = "a" if folder.rstrip("/") == path.rstrip("/") else f"in {folder}, a"
                raise ValueError(
                    f"{path}: {where} table of {kind}, whose files also hold deleted rows; {_NEXT[kind]}"
                )
            if folder in ("", "/"):
                break
            folder = posixpath.dirname(folder)


def kind_of(path: str, filesystem: Any) -> Optional[str]:
    """The format of the table whose folder a path is; `None` for other paths.

    Args:
        path: A path in the file system, or of this machine if that is `None`.
    """
    if filesystem is None:
        return local(path) if os.path.isdir(path) else None
    if glob.has_magic(path) or not path:
        return None
    # Whoever may read a file need not be allowed to look into its folder.
    with contextlib.suppress(OSError):
        return _looked_up(filesystem, path.rstrip("/"))
    return None


def local(folder: str) -> Optional[str]:
    """The format of the table in a folder of this machine."""
    for log, kind in _LOGS.items():
        if os.path.isdir(os.path.join(folder, log)):
            return kind
    metadata = os.path.join(folder, _METADATA)
    return ICEBERG if os.path.isdir(metadata) and any(map(_is_metadata, os.listdir(metadata))) else None


def remote(filesystem: Any, below: str, listed: Iterable[Any], recursive: bool) -> Probe:
    """The format of the table in a folder of a file system.

    Args:
        below: The folder that was listed, for which no further look is needed, with `recursive` also not for
            its subfolders.
        listed: The entries.
    """
    found: dict[str, str] = {}
    for entry in listed:
        parts = entry.path.split("/")
        for place, part in enumerate(parts):
            if part in _LOGS:
                found.setdefault("/".join(parts[:place]), _LOGS[part])
        if parts[-2:-1] == [_METADATA] and _is_metadata(parts[-1]):
            found.setdefault("/".join(parts[:-2]), ICEBERG)

    def probe(folder: str) -> Optional[str]:
        if folder in found:
            return found[folder]
        is_listed = folder == below or (recursive and folder.startswith(f"{below}/"))
        is_root = folder == "" and filesystem.type_name == "s3"
        if is_root or (is_listed and recursive):
            return None
        # Whoever may list a folder need not be allowed to look into those above.
        with contextlib.nullcontext() if is_listed else contextlib.suppress(OSError):
            return _looked_up(filesystem, folder)
        return None

    return probe


def _looked_up(filesystem: Any, folder: str) -> Optional[str]:
    from pyarrow import fs

    paths = [posixpath.join(folder, name) for name in [*_LOGS, _METADATA]]
    *logs, metadata = filesystem.get_file_info(paths)
    for log, kind in zip(logs, _LOGS.values()):
        if log.type == fs.FileType.Directory:
            return kind
    if metadata.type != fs.FileType.Directory:
        return None
    names = filesystem.get_file_info(fs.FileSelector(metadata.path))
    return ICEBERG if any(_is_metadata(file.base_name) for file in names) else None


def _is_metadata(name: str) -> bool:
    return name.endswith((".metadata.json", ".metadata.json.gz"))
