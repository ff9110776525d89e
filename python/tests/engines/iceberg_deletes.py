"""Delete files of Iceberg, which Spark and Flink write and pyiceberg only reads."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.typedef import Record

#: Columns of a file of position deletes, with the ids of the specification.
_POSITIONS = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)


class _DeleteWriter(ManifestWriterV2):
    """A writer of manifests of deletes."""

    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def delete_positions(table: Any, rows: Mapping[str, Sequence[int]]) -> str:
    """Delete rows by their positions in data files.

    Returns:
        The path of the metadata of the version without them.
    """
    pairs = sorted((path, position) for path, positions in rows.items() for position in positions)
    columns = [pa.array(column) for column in zip(*pairs)]
    return _add(table, pa.table(columns, _POSITIONS), DataFileContent.POSITION_DELETES, None)


def delete_equal(table: Any, name: str, values: pa.Array) -> str:
    """Delete the rows with these values in a column, as :func:`delete_positions`."""
    number = table.schema().find_field(name).field_id
    field = pa.field(name, values.type, metadata={"PARQUET:field_id": str(number)})
    return _add(table, pa.table([values], pa.schema([field])), DataFileContent.EQUALITY_DELETES, [number])


def _add(table: Any, rows: pa.Table, content: DataFileContent, equality: Any) -> str:
    folder = table.location()
    local = pathlib.Path(folder[len("file://") :])
    name = f"deletes-{content.name.lower()}"
    pq.write_table(rows, local / "data" / f"{name}.parquet")
    file = DataFile.from_args(
        content=content,
        file_path=f"{folder}/data/{name}.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=rows.num_rows,
        file_size_in_bytes=(local / "data" / f"{name}.parquet").stat().st_size,
        equality_ids=equality,
    )
    file.spec_id = table.spec().spec_id
    snapshot = table.current_snapshot()
    output = table.io.new_output(f"{folder}/metadata/{name}.avro")
    with _DeleteWriter(table.spec(), table.schema(), output, snapshot.snapshot_id, "null") as writer:
        added = ManifestEntryStatus.ADDED
        writer.add(ManifestEntry.from_args(status=added, snapshot_id=snapshot.snapshot_id, data_file=file))
    manifests = [*snapshot.manifests(table.io), writer.to_manifest_file()]
    number = snapshot.sequence_number + 1
    listed = table.io.new_output(f"{folder}/metadata/{name}-list.avro")
    parent = snapshot.parent_snapshot_id
    with write_manifest_list(2, listed, snapshot.snapshot_id, parent, number, "null") as lists:
        lists.add_manifests(manifests)
    metadata = json.loads(table.metadata.model_dump_json(by_alias=True))
    [current] = [each for each in metadata["snapshots"] if each["snapshot-id"] == snapshot.snapshot_id]
    current.update({"manifest-list": listed.location, "sequence-number": number})
    metadata["last-sequence-number"] = number
    path = local / "metadata" / f"{name}.metadata.json"
    path.write_text(json.dumps(metadata))
    return str(path)
