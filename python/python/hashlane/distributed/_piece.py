"""Parts of files."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional

#: Scheme of addresses on S3.
S3 = "s3://"


class Piece(NamedTuple):
    """Part of a file: all of it, or some row groups."""

    path: str
    #: `parquet`, `ipc`, `csv`, or `iceberg` for a file of an Iceberg table.
    format: str
    #: Size of the file in bytes.
    size: int = 0
    row_groups: Optional[list[int]] = None
    #: Number of the first row in the file.
    first: int = 0
    #: Columns with one value for the file, by name: arrays of pyarrow of one row.
    values: dict[str, Any] = {}
    #: Columns of the Delta table of the file: those that neither the file nor `values` has are null.
    schema: Any = None
    #: The `FileScanTask` of pyiceberg.
    task: Any = None

    def inside(self) -> str:
        """The path in its file system: without `s3://`."""
        return inside(self.path)


def inside(path: str) -> str:
    """The path in its file system: without `s3://`."""
    return re.sub(rf"^{S3}", "", path)
