"""Delta tables: the files of a version, as the log of the table names them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from ._errors import about
from ._piece import S3, Piece


def open_table(path: str) -> Any:
    """The current version of the table in a folder of this machine or of S3.

    Raises:
        ModuleNotFoundError: deltalake is not installed.
        OSError, ValueError: The log cannot be read.
    """
    try:
        import deltalake
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{path}: a table of Delta; install deltalake to read its log, or pass a list of its files"
        ) from error
    try:
        # Plain HTTP only where AWS_ENDPOINT_URL has it.
        options = {"AWS_ALLOW_HTTP": "true"} if path.startswith(S3) else None
        return deltalake.DeltaTable(path, storage_options=options)
    except Exception as error:
        raise about(path, error) from error


def address(table: Any) -> str:
    """The folder of a `DeltaTable`: a path of this machine, or an address with a scheme."""
    uri: str = table.table_uri.rstrip("/")
    return unquote(uri[len("file://") :]) if uri.startswith("file://") else uri


def pieces(table: Any, folder: str) -> list[Piece]:
    """The files of a version of a table.

    Args:
        table: A `DeltaTable`.
        folder: Its folder, as files of it are opened.

    Raises:
        ValueError: The table has a feature that files alone do not show: deletion vectors, mapped columns,
            files of another table.
    """
    import pyarrow
    from pyarrow import dataset

    try:
        data = table.to_pyarrow_dataset()
        partitions = set(table.metadata().partition_columns)
        actions = pyarrow.table(table.get_add_actions(flatten=True))
    except Exception as error:
        # The errors of deltalake about features that its data set lacks.
        if type(error).__name__ == "DeltaProtocolError":
            raise ValueError(
                f"{folder}: {' '.join(str(error).split())}; update a sketch with the batches of "
                "deltalake.QueryBuilder, or rewrite the table without the feature"
            ) from error
        raise about(folder, error) from error
    if (table.metadata().configuration or {}).get("delta.columnMapping.mode", "none") != "none":
        raise ValueError(f"{folder}: a table with column mapping; rewrite it without the feature")
    # A path that the log writes in another way has no size here, and its file is one piece.
    sizes = dict(zip(actions["path"].to_pylist(), actions["size_bytes"].to_pylist()))
    found = []
    for fragment in data.get_fragments():
        path = fragment.path
        if path.startswith("/") or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path) or ".." in path.split("/"):
            raise ValueError(
                f"{folder}: file {path} is outside of the table, as in a shallow clone; copy the table"
            )
        keys = dataset.get_partition_keys(fragment.partition_expression)
        values = {
            name: pyarrow.array([keys.get(name)], data.schema.field(name).type) for name in sorted(partitions)
        }
        size = sizes.get(path, 0)
        found.append(Piece(f"{folder}/{path}", "parquet", size, values=values, schema=data.schema))
    return found
