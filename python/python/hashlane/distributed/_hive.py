"""Folders `key=value`, as Hive and Spark name partitions: columns with one value for each file."""

from __future__ import annotations

import contextlib
from typing import Any, Optional
from urllib.parse import unquote

#: Name of a null, as Hive, Spark and pyarrow write it.
_NULL = "__HIVE_DEFAULT_PARTITION__"


def is_partition(folder: str) -> bool:
    """True for the name of a folder that is `key=value`."""
    key, equals, _ = folder.partition("=")
    return bool(key) and bool(equals) and not key.startswith((".", "_"))


def values(path: str) -> dict[str, Any]:
    """The columns of the folders above a file: arrays of one text, which is null for Hive's name of nulls.

    A key that two folders have, and a name that is not UTF-8 once its `%` escapes are decoded, is no column.
    """
    import pyarrow

    found: dict[str, list[Optional[str]]] = {}
    for folder in filter(is_partition, path.split("/")[:-1]):
        name, _, value = folder.partition("=")
        with contextlib.suppress(UnicodeDecodeError):
            text = None if value == _NULL else unquote(value, errors="strict")
            found.setdefault(unquote(name, errors="strict"), []).append(text)
    return {
        name: pyarrow.array(texts, pyarrow.string()) for name, texts in found.items() if len(texts) == 1
    }
