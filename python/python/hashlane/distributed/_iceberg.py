"""Iceberg tables: the files of the current snapshot, read by pyiceberg with their deletes."""

from __future__ import annotations

import os
from typing import Any, Iterator, NamedTuple, Sequence

from ._errors import about
from ._piece import Piece

#: Ending of the file that describes a version of a table.
METADATA = ".metadata.json"

#: File with the name of the current version, of tables without a catalog.
HINT = "version-hint.text"

#: Options of pyiceberg and the variables that they come from: of the environment it takes only credentials.
_S3 = {"s3.endpoint": "AWS_ENDPOINT_URL", "s3.region": "AWS_REGION"}


class Scan(NamedTuple):
    """Columns of a snapshot: for pyiceberg's `ArrowScan`, on each worker."""

    metadata: Any
    io: Any
    schema: Any
    row_filter: Any

    def types(self, columns: Sequence[str]) -> list[Any]:
        """Types of columns."""
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        schema = schema_to_pyarrow(self.schema, include_field_ids=False)
        return [schema.field(name).type for name in columns]

    def batches(self, piece: Piece, rows: int) -> Iterator[Any]:
        """Batches of at most `rows` rows of a file. pyiceberg decodes the columns of a file at once."""
        from pyiceberg.io.pyarrow import ArrowScan

        scan = ArrowScan(self.metadata, self.io, self.schema, self.row_filter)
        for batch in scan.to_record_batches([piece.task]):
            for first in range(0, len(batch), rows):
                yield batch.slice(first, rows)


def open_table(path: str) -> Any:
    """The table of a metadata file, or of a folder with a version hint.

    Raises:
        ModuleNotFoundError: pyiceberg is not installed.
        OSError, ValueError: The metadata cannot be read.
    """
    try:
        from pyiceberg.table import StaticTable
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{path}: a table of Iceberg; install pyiceberg[pyarrow] to read its metadata, or pass a list of "
            "its files"
        ) from error
    options = {name: os.environ[variable] for name, variable in _S3.items() if os.environ.get(variable)}
    try:
        return StaticTable.from_metadata(os.fspath(path), options)
    except Exception as error:
        raise about(path, error) from error


def plan(table: Any, columns: Sequence[str]) -> tuple[Scan, list[Piece]]:
    """The scan of columns of the current snapshot of a table, and its files.

    Raises:
        ValueError: There is no such column, or pyiceberg cannot apply the deletes of a file.
    """
    location = table.metadata_location
    names = [field.name for field in table.schema().fields]
    for name in columns:
        if name not in names:
            raise ValueError(f"{location}: no column {name!r}; there are {', '.join(names)}")
    try:
        scan = table.scan(selected_fields=tuple(columns))
        tasks = list(scan.plan_files())
    except Exception as error:
        if isinstance(error, ValueError) and "equality delete" in str(error):
            raise ValueError(
                f"{location}: a table with equality deletes, which pyiceberg does not apply; compact the table, or "
                "update a sketch with the batches of an engine that reads it"
            ) from error
        raise about(location, error) from error
    found = [Piece(task.file.file_path, "iceberg", task.file.file_size_in_bytes, task=task) for task in tasks]
    return Scan(scan.table_metadata, scan.io, scan.projection(), scan.row_filter), found
