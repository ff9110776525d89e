"""Tables that are read through their log: Delta and Iceberg; and file systems of fsspec."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flows import KEY

import hashlane
from hashlane import distributed

deltalake = pytest.importorskip("deltalake")
fsspec = pytest.importorskip("fsspec")


def users(start: int, rows: int = 1000) -> pa.Table:
    numbers = range(start, start + rows)
    return pa.table(
        {
            "user": [None if number % 97 == 0 else f"user {number}" for number in numbers],
            "day": [["2026-01-01", "a b/c", None][number % 3] for number in numbers],
            "n": pa.array(numbers, pa.int64()),
        }
    )


def compare(source: Any, rows: pa.Table, **options: Any) -> None:
    """Compares the rows that a source stands for with these."""
    distinct = hashlane.Distinct(key=KEY)
    distinct.update(rows["user"])
    assert distributed.distinct(source, "user", KEY, **options).to_bytes() == distinct.to_bytes()
    groups = hashlane.Groups(hashlane.Distinct(key=KEY))
    groups.update(rows["day"], rows["n"])
    found = distributed.groups(source, "day", "n", hashlane.Distinct(key=KEY), **options)
    assert found.to_bytes() == groups.to_bytes()


@pytest.fixture
def delta(tmp_path: pathlib.Path) -> pathlib.Path:
    """A table of which each version has other rows and files."""
    path = tmp_path / "a table"
    deltalake.write_deltalake(path, users(0), partition_by=["day"])
    extra = users(1000).append_column("extra", pa.array(["x"] * 1000))
    deltalake.write_deltalake(path, extra, mode="append", schema_mode="merge")
    deltalake.DeltaTable(path).delete("n >= 500 AND n < 1200")
    return path


def test_a_folder_of_delta_is_its_current_version(
    delta: pathlib.Path, engine: str, small_pieces: None
) -> None:
    current = pa.concat_tables([users(0, 500), users(1200, 800)])
    compare(delta, current, engine=engine, workers=2)
    compare(f"{delta}/", current, engine=engine)
    rows = distributed.spread(delta, "n", "crc32c", engine=engine).result().keys
    assert rows == 1300 < sum(pq.read_metadata(path).num_rows for path in delta.glob("**/*.parquet"))


def test_a_table_of_deltalake_is_its_version(delta: pathlib.Path) -> None:
    compare(deltalake.DeltaTable(delta, version=0), users(0))
    compare([deltalake.DeltaTable(delta, version=1)], pa.concat_tables([users(0), users(1000)]))
    # Files that were written before the column are null in it.
    extra = distributed.heavy_hitters(delta, "extra", 9).result()
    assert (extra.total, extra.hitters[0]) == (800, hashlane.HeavyHitter(b"x", 800))
    # A table beside files.
    pq.write_table(users(5000), delta.parent / "more.parquet")
    found = distributed.spread([delta, delta.parent / "more.parquet"], "n", "crc32c")
    assert found.result().keys == 2300
    with pytest.raises(ValueError, match="no column 'none'; there are day, user, n, extra"):
        distributed.distinct(delta, "none", KEY)


def test_a_table_of_delta_without_files_is_empty(tmp_path: pathlib.Path) -> None:
    deltalake.DeltaTable.create(tmp_path / "empty", schema=pa.schema([("n", pa.int64())]))
    assert distributed.spread(tmp_path / "empty", "n", "crc32c").result().keys == 0


def test_features_that_files_do_not_show_are_refused(delta: pathlib.Path) -> None:
    logs = delta / "_delta_log"
    number = max(int(path.stem) for path in logs.glob("*.json")) + 1
    protocol = (
        '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,'
        '"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}'
    )
    (logs / f"{number:020}.json").write_text(protocol)
    with pytest.raises(ValueError, match="(?s)a table: .*deletionVectors.*update a sketch with"):
        distributed.distinct(delta, "user", KEY)


def test_mapped_columns_are_refused(tmp_path: pathlib.Path) -> None:
    deltalake.write_deltalake(tmp_path / "t", pa.table({"n": [1, 2]}))
    [log] = (tmp_path / "t" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
            schema = json.loads(line["metaData"]["schemaString"])
            mapped = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "c"}
            schema["fields"][0]["metadata"] = mapped
            line["metaData"]["schemaString"] = json.dumps(schema)
        if "protocol" in line:
            line["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}
    log.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(ValueError, match="a table with column mapping; rewrite it without the feature"):
        distributed.distinct(tmp_path / "t", "n", KEY)


def test_a_damaged_log_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / "00000000000000000000.json").write_text("{}")
    pq.write_table(users(0), tmp_path / "a.parquet")
    with pytest.raises((OSError, ValueError)) as raised:
        distributed.distinct(tmp_path, "user", KEY)
    assert "\n" not in str(raised.value) and str(tmp_path) in str(raised.value)


def test_delta_on_s3(s3: str, delta: pathlib.Path) -> None:
    from pyarrow import fs

    store = fs.S3FileSystem(endpoint_override=s3, allow_bucket_creation=True, region="us-east-1")
    fs.copy_files(str(delta), "lake/events", destination_filesystem=store)
    current = pa.concat_tables([users(0, 500), users(1200, 800)])
    compare("s3://lake/events", current)
    compare("s3://lake/events/", current)
    with pytest.raises(ValueError, match="pass the folder of the table, without filesystem="):
        distributed.distinct("lake/events", "user", KEY, filesystem=store)
    compare(deltalake.DeltaTable("s3://lake/events", storage_options={"AWS_ALLOW_HTTP": "true"}), current)


@pytest.fixture
def iceberg(tmp_path: pathlib.Path) -> Any:
    catalogs = pytest.importorskip("pyiceberg.catalog.memory")
    catalog = catalogs.InMemoryCatalog("tests", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", schema=users(0).schema)
    table.append(users(0))
    with table.update_schema() as update:
        update.rename_column("n", "number")
        update.add_column("extra", pyiceberg_string())
    table.append(users(1000).rename_columns(["user", "day", "number"]))
    table.delete("number >= 500 AND number < 1200")
    return table


def pyiceberg_string() -> Any:
    from pyiceberg.types import StringType

    return StringType()


def test_tables_of_iceberg_are_read_by_their_metadata(iceberg: Any, engine: str) -> None:
    current = pa.concat_tables([users(0, 500), users(1200, 800)])
    location = iceberg.metadata_location
    path = location[len("file://") :] if location.startswith("file://") else location
    distinct = hashlane.Distinct(key=KEY)
    distinct.update(current["user"])
    for source in [iceberg, path, location]:
        found = distributed.distinct(source, "user", KEY, engine=engine, workers=2)
        assert found.to_bytes() == distinct.to_bytes()
        # The first files have the column under its old name.
        assert distributed.spread(source, "number", "crc32c", engine=engine).result().keys == 1300
    folder = pathlib.Path(path).parents[1]
    with pytest.raises(ValueError, match=r"table of Iceberg, whose .*; pass a table of pyiceberg, or the"):
        distributed.distinct(folder, "user", KEY, engine=engine)
    (folder / "metadata" / "version-hint.text").write_text(pathlib.Path(path).name)
    assert distributed.distinct(folder, "user", KEY, engine=engine).to_bytes() == distinct.to_bytes()


# The deletes travel with the task of a file, which is pickled alike under every engine.
@pytest.mark.parametrize("engine", ["local", "dask"], indirect=True)
def test_position_deletes_of_iceberg_are_applied(iceberg: Any, engine: str) -> None:
    from iceberg_deletes import delete_positions

    paths = [task.file.file_path for task in iceberg.scan().plan_files()]
    deleted = {path: [0, 7, 8, 299] for path in paths}
    version = delete_positions(iceberg, deleted)
    kept = []
    for path in paths:
        rows = pq.read_table(path[len("file://") :])
        numbers = rows["n" if "n" in rows.column_names else "number"].to_pylist()
        kept += [number for at, number in enumerate(numbers) if at not in deleted[path]]
    assert 0 < 1300 - len(kept) == 4 * len(paths)
    found = distributed.spread(version, "number", "crc32c", engine=engine, workers=2)
    whole = hashlane.Spread("crc32c", found.result().buckets)
    whole.update(pa.array([*range(500), *range(1200, 2000)], pa.int64()))
    spread = hashlane.Spread("crc32c", found.result().buckets)
    spread.update(pa.array(kept, pa.int64()))
    assert found.to_bytes() == spread.to_bytes() != whole.to_bytes()
    # The version before keeps its rows.
    assert distributed.spread(iceberg, "number", "crc32c").to_bytes() == whole.to_bytes()


def test_equality_deletes_of_iceberg_are_refused(iceberg: Any) -> None:
    from iceberg_deletes import delete_equal

    version = delete_equal(iceberg, "number", pa.array([3, 4], pa.int64()))
    with pytest.raises(ValueError, match="a table with equality deletes, .*; compact the table") as raised:
        distributed.distinct(version, "user", KEY)
    assert version in str(raised.value) and "\n" not in str(raised.value)


def test_iceberg_on_s3(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    catalogs = pytest.importorskip("pyiceberg.catalog.memory")
    from pyarrow import fs

    names = {"access_key": "hashlane", "secret_key": "secret", "region": "us-east-1"}
    fs.S3FileSystem(endpoint_override=s3, allow_bucket_creation=True, **names).create_dir("iceberg")
    options = {"s3.region": "us-east-1", "s3.endpoint": s3}
    catalog = catalogs.InMemoryCatalog("s3", warehouse="s3://iceberg/lake", **options)
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", schema=users(0).schema)
    table.append(users(0))
    table.delete("n < 100")
    for source in [table, table.metadata_location]:
        compare(source, users(100, 900))


def test_what_pyiceberg_cannot_read_is_refused(iceberg: Any, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="no column 'n'; there are user, day, number, extra"):
        distributed.distinct(iceberg, "n", KEY)
    with pytest.raises(ValueError, match="beside other sources; call the function for each"):
        distributed.distinct([iceberg, "a.parquet"], "user", KEY)
    with pytest.raises(ValueError, match="without filesystem="):
        distributed.distinct(iceberg, "user", KEY, filesystem=fsspec.filesystem("file"))
    broken = tmp_path / "v1.metadata.json"
    with pytest.raises(FileNotFoundError, match="v1.metadata.json"):
        distributed.distinct(broken, "user", KEY)
    broken.write_text("{}")
    with pytest.raises(ValueError, match="v1.metadata.json") as raised:
        distributed.distinct(broken, "user", KEY)
    assert "\n" not in str(raised.value)


def test_file_systems_of_fsspec(files: pathlib.Path, engine: str) -> None:
    if engine != "local":
        return
    from pyarrow import fs

    whole = distributed.distinct(files, "name", KEY).to_bytes()
    below = fs.SubTreeFileSystem(str(files), fs.LocalFileSystem())
    for source in ["", "*.parquet"]:
        assert distributed.distinct(source, "name", KEY, filesystem=below).to_bytes() == whole
    with pytest.raises(FileNotFoundError, match="none.parquet: no file"):
        distributed.distinct("none.parquet", "name", KEY, filesystem=below)
    for source in [str(files), f"{files}/*.parquet"]:
        found = distributed.distinct(source, "name", KEY, engine=engine, filesystem=fsspec.filesystem("file"))
        assert found.to_bytes() == whole
    memory = fsspec.filesystem("memory")
    for path in files.glob("*.parquet"):
        memory.pipe(f"/lake/day=1/{path.name}", path.read_bytes())
    assert distributed.distinct("/lake", "name", KEY, filesystem=memory).to_bytes() == whole
    assert distributed.distinct("/lake", "day", KEY, filesystem=memory).result().keys == 1
    for scheme in ["memory", "gs", "abfss", "hdfs", "http"]:
        message = rf"{scheme}://lake: no file system for {scheme}://.*: one of pyarrow.fs, or fsspec"
        with pytest.raises(ValueError, match=rf"{message}.filesystem\('{scheme}'\)"):
            distributed.distinct(f"{scheme}://lake", "name", KEY)
