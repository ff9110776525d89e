from __future__ import annotations

import glob
import pathlib
import re
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from bytes_of_one_process import EXPECTED, compare, compare_groups, errors
from flows import KEY, table, write
from pyarrow import fs

import hashlane
from hashlane import distributed
from hashlane.distributed import _files, _hive, _local, _read, _run


@pytest.fixture
def files(tmp_path: pathlib.Path) -> pathlib.Path:
    return write(tmp_path)


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_threads_give_the_bytes_of_one_process(files: pathlib.Path, workers: Any) -> None:
    compare(str(files / "*.parquet"), workers=workers)


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_share_pieces_of_files(
    files: pathlib.Path, workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_read, "_SMALL", 0)
    monkeypatch.setattr(_run, "_THREADS", 1000)
    compare(files, workers=workers)


def test_other_formats_and_lists_of_files(tmp_path: pathlib.Path) -> None:
    one = table(1).select(["name"])
    pq.write_table(one, tmp_path / "a.parquet")
    pa.feather.write_feather(one, tmp_path / "b.feather")
    pa.csv.write_csv(one, tmp_path / "c.csv")
    (tmp_path / "notes.txt").write_text("not read in a folder")
    parts = [distributed.spread(tmp_path / name, "name", "crc32c") for name in ["a.parquet", "b.feather", "c.csv"]]
    assert len({part.to_bytes() for part in parts}) == 1
    parts[0].merge(parts[1])
    parts[0].merge(parts[2])
    assert distributed.spread(tmp_path, "name", "crc32c").to_bytes() == parts[0].to_bytes()
    # A file that is named twice is read once.
    both = distributed.spread([tmp_path / "b.feather", str(tmp_path / "b*")], "name", "crc32c")
    assert both.to_bytes() == parts[1].to_bytes()


def test_files_that_do_not_fit_are_named(files: pathlib.Path) -> None:
    raised = errors(files)
    assert len(raised) == len(EXPECTED)
    for (kind, message), (kinds, pattern) in zip(raised, EXPECTED):
        assert kind in kinds and re.search(pattern, message), message
        assert "\n" not in message
    with pytest.raises(ValueError, match=r"flows-0.parquet: row \d+: src .* is no IP address"):
        distributed.spread(files / "flows-0.parquet", ["name", "sport", "dst", "dport"], "siphash-1-3", KEY)
    with pytest.raises(ValueError, match="expected one name, or four"):
        distributed.spread(files, ["src", "dst"], "siphash-1-3", KEY)


def test_arguments_are_checked_before_files_are_read() -> None:
    with pytest.raises(ValueError, match="engine 'sparc' is not supported; there are local, ray"):
        distributed.spread("none", "a", "crc32c", engine="sparc")
    with pytest.raises(ValueError, match="needs a key"):
        distributed.spread("none", "a", "siphash-1-3")
    with pytest.raises(ValueError, match="workers is 0, but must be from 1 to 65,536"):
        distributed.spread("none", "a", "crc32c", workers=0)
    with pytest.raises(ValueError, match="workers is 1000000000, but must be from 1 to 65,536"):
        distributed.spread("none", "a", "crc32c", workers=10**9)
    bad: Any = "2"
    with pytest.raises(TypeError, match="workers is '2', of type str; pass an integer"):
        distributed.spread("none", "a", "crc32c", workers=bad)
    bad = None
    with pytest.raises(TypeError, match="columns is None; expected the name"):
        distributed.spread("none", bad, "crc32c")
    with pytest.raises(ValueError, match="files end with"):
        distributed.spread(__file__, "a", "crc32c")
    with pytest.raises(ValueError, match="expected four"):
        distributed.imbalance("none", ["src"], "rss", 4, KEY)


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ([], ValueError, "source is empty; pass a path"),
        (None, TypeError, "source is None; pass a path"),
        (b"a.csv", TypeError, "source is b'a.csv'; pass a path"),
        (["a.csv", 3], TypeError, "source has 3; pass a path"),
    ],
)
def test_sources_without_paths_are_refused(source: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        distributed.spread(source, "a", "crc32c")


def test_threads_are_not_more_than_pieces(files: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_local, "cores", lambda: 1)
    seen: list[str] = []

    class Counted(threading.Thread):
        def start(self) -> None:
            seen.append(self.name)
            super().start()

    monkeypatch.setattr(threading, "Thread", Counted)
    found = distributed.spread(files, "name", "crc32c", workers=20_000)
    # Four for the core, and one for each of five files.
    assert 1 <= len(seen) <= 9
    monkeypatch.undo()
    assert found.to_bytes() == distributed.spread(files, "name", "crc32c", workers=1).to_bytes()


def test_each_piece_can_have_a_thread(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_local, "cores", lambda: 1)
    for number in range(12):
        pq.write_table(pa.table({"key": [number]}), tmp_path / f"{number}.parquet")
    # No piece ends before all have begun.
    barrier, read = threading.Barrier(12, timeout=60), _read.batches

    def batches(piece: Any, job: Any) -> Any:
        def wait() -> Any:
            barrier.wait()
            yield from read(piece, job)

        return wait()

    monkeypatch.setattr(_local, "batches", batches)
    assert distributed.spread(tmp_path, "key", "crc32c", workers=12).result().keys == 12


def test_folders_leave_out_hidden_files_and_subfolders(tmp_path: pathlib.Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for path in [tmp_path / "1.parquet", tmp_path / "_metadata.parquet", tmp_path / ".2.parquet", deep / "3.parquet"]:
        pq.write_table(pa.table({"key": [1]}), path)
    local = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    assert distributed.spread(tmp_path, "key", "crc32c").result().keys == 1
    assert distributed.spread("", "key", "crc32c", filesystem=local).result().keys == 1
    assert distributed.spread(str(tmp_path / "**/*.parquet"), "key", "crc32c").result().keys == 3
    assert distributed.spread(tmp_path / "_metadata.parquet", "key", "crc32c").result().keys == 1


def test_a_link_without_its_file_is_an_error(tmp_path: pathlib.Path) -> None:
    pq.write_table(pa.table({"key": [1]}), tmp_path / "1.parquet")
    link = tmp_path / "2.parquet"
    link.symlink_to("gone.parquet")
    sources: list[Any] = [tmp_path, str(tmp_path / "*.parquet"), link]
    for source in sources:
        with pytest.raises(FileNotFoundError) as error:
            distributed.spread(source, "key", "crc32c")
        assert str(error.value).startswith(f"{link}: a link to gone.parquet, which does not exist; restore")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.parquet", b"", "damaged, or no Parquet file: Parquet file size is 0 bytes; replace"),
        ("a.csv", b"", "damaged, or no CSV file: .*Empty CSV file.*; replace"),
        ("a.feather", b"ARROW1", "damaged, or no IPC file: .*; replace"),
    ],
)
def test_damaged_files_are_named_once(tmp_path: pathlib.Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as error:
        distributed.spread(path, "a", "crc32c")
    assert str(error.value).count(str(path)) == 1


def test_memory_is_bounded_by_batches(tmp_path: pathlib.Path) -> None:
    rows = 4_000_000
    with pq.ParquetWriter(tmp_path / "a.parquet", pa.schema([("key", pa.uint64())])) as writer:
        for start in range(0, rows, 100_000):
            writer.write_table(pa.table({"key": np.arange(start, start + 100_000, dtype=np.uint64)}))
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        spread = distributed.spread(tmp_path, "key", "siphash-1-3", KEY, workers=2)
    finally:
        pa.set_memory_pool(before)
    assert spread.result().keys == rows
    assert 0 < pool.max_memory() < 16 << 20 < 8 * rows


def test_a_signal_stops_the_threads(tmp_path: pathlib.Path) -> None:
    keys = pa.table({"key": pa.array(np.zeros(1_000_000, np.uint64))})
    pq.write_table(keys, tmp_path / "a.parquet")
    threads = threading.active_count()
    for number in range(100):
        (tmp_path / f"{number}.parquet").symlink_to(tmp_path / "a.parquet")
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        distributed.spread(tmp_path, "key", "siphash-2-4", KEY)
        time.sleep(60)
    timer.join()
    assert threading.active_count() <= threads


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("b/*.parquet", "b/x.parquet", True),
        ("b/*.parquet", "b/c/x.parquet", False),
        ("b/*.parquet", "b/.x.parquet", False),
        ("b/**/*.parquet", "b/x.parquet", True),
        ("b/**/*.parquet", "b/c/d/x.parquet", True),
        ("b/**/*.parquet", "b/.c/x.parquet", False),
        ("b/**", "b/c/x.parquet", True),
        ("b/day=?/[ab].csv", "b/day=1/a.csv", True),
        ("b/day=?/[ab].csv", "b/day=12/a.csv", False),
        ("*/x.csv", "b/x.csv", True),
    ],
)
def test_patterns_of_other_file_systems_match_as_those_of_glob(
    tmp_path: pathlib.Path, pattern: str, path: str, matches: bool
) -> None:
    assert _files._matches(path, pattern) == matches
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.touch()
    found = glob.glob(str(tmp_path / pattern), recursive=True)
    assert (str(file) in found) == matches


def test_a_file_system_of_pyarrow_is_read(files: pathlib.Path) -> None:
    folder = fs.SubTreeFileSystem(str(files), fs.LocalFileSystem())
    compare("flows-*.parquet", filesystem=folder)
    compare([f"flows-{number}.parquet" for number in range(5)], filesystem=folder)
    with pytest.raises(FileNotFoundError, match="none/: no file"):
        distributed.spread("none/", "name", "crc32c", filesystem=folder)


MARKS = {
    "Delta": "_delta_log/00000000000000000000.json",
    "Hudi": ".hoodie/hoodie.properties",
    "Iceberg": "metadata/00001-5c0e.metadata.json",
}


@pytest.mark.parametrize("kind", MARKS)
def test_folders_of_table_formats_are_refused(
    kind: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "warehouse" / "events"
    data = root / "data" / "day=1"
    data.mkdir(parents=True)
    for file in [root / "a.parquet", data / "b.parquet", tmp_path / "warehouse" / "c.parquet"]:
        pq.write_table(pa.table({"name": [file.name]}), file)

    def count(source: Any, **options: Any) -> int:
        return distributed.spread(source, "name", "crc32c", **options).result().keys

    inside = ["", "/*.parquet", "/data/day=1", "/data/*/*.parquet", "/data/day=1/b.*", "/**/b.parquet"]
    assert [count(f"{root}{end}") for end in inside] == [1] * len(inside)
    mark = root / MARKS[kind]
    mark.parent.mkdir()
    mark.write_text("{}")
    refused = rf"table of {kind}, whose files also hold deleted rows; (pass|update a sketch with) "
    monkeypatch.chdir(root)
    by_log = [""] if kind == "Delta" else []
    for end in inside:
        for options in [{"engine": engine} for engine in distributed.ENGINES] + [{"filesystem": fs.LocalFileSystem()}]:
            if end not in by_log or "filesystem" in options:
                with pytest.raises(ValueError, match=refused):
                    count(f"{root}{end}", **options)
        with pytest.raises(ValueError, match=refused):
            count(f"events{end}", filesystem=fs.SubTreeFileSystem(str(root.parent), fs.LocalFileSystem()))
    if by_log:
        monkeypatch.setitem(sys.modules, "deltalake", None)
        for source in [root, ".", f"{root}/", [root]]:
            with pytest.raises(ModuleNotFoundError, match="a table of Delta; install deltalake to read its log"):
                count(source)
    for relative in ["*.parquet", "data/day=1"]:
        with pytest.raises(ValueError, match=refused):
            count(relative)
    in_table = fs.SubTreeFileSystem(str(root), fs.LocalFileSystem())
    for source in ["*.parquet", "data/day=1", "**/b.parquet"]:
        with pytest.raises(ValueError, match=refused):
            count(source, filesystem=in_table)
    (tmp_path / "link").symlink_to(data)
    for source in [tmp_path / "link", tmp_path / "warehouse" / "**" / "*.parquet", [root / "a.parquet", data]]:
        with pytest.raises(ValueError, match=refused):
            count(source)
    # The folder above the table has other files; and files that are named are the caller's choice.
    for options in [{}, {"filesystem": fs.LocalFileSystem()}]:
        assert count(f"{tmp_path}/warehouse", **options) == 1
        assert count(f"{tmp_path}/warehouse/*.parquet", **options) == 1
        assert count([f"{root}/a.parquet", f"{data}/b.parquet"], **options) == 2


@pytest.mark.parametrize("scheme", ["gs", "abfss", "https", "hdfs", "file"])
def test_schemes_without_a_file_system_are_named(scheme: str) -> None:
    with pytest.raises(ValueError, match=f"no file system for {scheme}://; pass the path without it"):
        distributed.distinct(f"{scheme}://bucket/*.parquet", "user", key=bytes(16))


def write_hive(root: pathlib.Path) -> pa.Table:
    """A folder with partitions, as pyarrow and Spark write it; returns its rows."""
    rows = pa.table(
        {
            "user": [f"user {row % 700}" for row in range(3000)],
            "day": [["2026-01-01", "a b/c=%", None][row % 3] for row in range(3000)],
            "hour": [str(row % 2) for row in range(3000)],
        }
    )
    pyarrow.dataset.write_dataset(
        rows, root, format="parquet", partitioning=["day", "hour"], partitioning_flavor="hive"
    )
    return rows


def test_folders_of_partitions_are_columns(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "region=eu" / "visits"
    rows = write_hive(root)
    (root / "_temporary").mkdir()
    pq.write_table(rows, root / "_temporary" / "x.parquet")
    (root / "other").mkdir()
    pq.write_table(rows, root / "other" / "x.parquet")
    local = fs.SubTreeFileSystem(str(root), fs.LocalFileSystem())
    for source, options in [
        (root, {}),
        (f"{root}/", {}),
        (f"{root}/day=*/hour=*/*.parquet", {}),
        (str(root), {"filesystem": fs.LocalFileSystem()}),
        ("", {"filesystem": local}),
        ("day=*/**/*.parquet", {"filesystem": local}),
    ]:
        found = distributed.groups(source, ["day", "hour"], "user", hashlane.Distinct(key=KEY), **options)
        expected = hashlane.Groups(hashlane.Distinct(key=KEY))
        expected.update({"day": rows["day"], "hour": rows["hour"]}, rows["user"])
        assert found.to_bytes() == expected.to_bytes()
        assert found.result().to_arrow().column_names[:2] == ["day", "hour"]
        # Columns of partitions alone, and columns in another order than the files have.
        spread = distributed.spread(source, "hour", "crc32c", buckets=64, **options)
        assert spread.result().keys == 3000 and len(spread.result().loads) == 2
        pairs = distributed.heavy_hitters(source, ["hour", "user"], 2000, **options)
        assert pairs.result().total == 3000 and len(pairs.result().hitters) == 700
    # A part of the partitions, and a folder above the source.
    part = distributed.groups(root / "day=2026-01-01", "region", "user", hashlane.Distinct(key=KEY))
    assert part.result().to_arrow()["region"].to_pylist() == ["eu"]
    with pytest.raises(ValueError, match="no column 'week'; there are region, day, hour, user"):
        distributed.distinct(root, "week", KEY)


def test_a_column_of_the_file_comes_before_that_of_its_folder(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "day=1"
    folder.mkdir()
    pq.write_table(pa.table({"day": pa.array([7, 8], pa.int64())}), folder / "a.parquet")
    assert distributed.distinct(tmp_path, "day", KEY).result().keys == 2
    pq.write_table(pa.table({"user": ["a"]}), folder / "b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet: column 'day' is of type string, but int64 in .*a.parquet"):
        distributed.distinct(tmp_path, "day", KEY)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.csv"])
def test_partitions_of_every_format(tmp_path: pathlib.Path, name: str) -> None:
    table = pa.table({"n": pa.array(range(9), pa.int64()), "user": ["a"] * 9})
    for day in ["1", "2"]:
        path = tmp_path / f"day={day}" / name
        path.parent.mkdir()
        {"parquet": pq.write_table, "feather": pa.feather.write_feather, "csv": pa.csv.write_csv}[
            name.partition(".")[2]
        ](table, path)
    heavy = distributed.heavy_hitters(tmp_path, ["day", "n"], 100, weights="n")
    assert {hitter.key: hitter.least for hitter in heavy.result().hitters}[("2", 8)] == 8
    assert distributed.heavy_hitters(tmp_path, "day", 9).result().hitters[0].least == 9


def test_names_of_partitions_are_those_of_pyarrow(tmp_path: pathlib.Path) -> None:
    schema = pa.schema([("day", pa.string()), ("k=%", pa.string())])
    partitioning = pyarrow.dataset.partitioning(schema, flavor="hive")
    for path in ["day=a%20b%2Fc/x.parquet", "day=__HIVE_DEFAULT_PARTITION__/x.parquet", "day=a=b/x.parquet"]:
        expected = pyarrow.dataset.get_partition_keys(partitioning.parse(path))
        assert {name: value[0].as_py() for name, value in _hive.values(path).items()} == expected
    assert list(_hive.values("=1/.a=1/_b=2/c/x=1.parquet")) == []
    assert list(_hive.values("a=1/b=1/a=2/day=%ff/%ff=1/x.parquet")) == ["b"]


def test_a_link_to_a_folder_above_it_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "hour=1").symlink_to(tmp_path)
    with pytest.raises(OSError, match="a link to a folder above it; remove the link"):
        distributed.spread(tmp_path, "key", "crc32c")
    (tmp_path / "day=1" / "hour=1").unlink()
    (tmp_path / "day=2").symlink_to("gone")
    with pytest.raises(FileNotFoundError, match="day=2: a link to gone, which does not exist"):
        distributed.spread(tmp_path, "key", "crc32c")


@pytest.mark.parametrize("engine", ["local"])
def test_groups_are_those_of_one_process(files: pathlib.Path, engine: str) -> None:
    compare_groups(files, engine=engine)
    with pytest.raises(ValueError, match="more than 3 groups"):
        distributed.groups(files, "src", "name", hashlane.Distinct(key=KEY), most=3)
    with pytest.raises(ValueError, match="no column 'none'"):
        distributed.groups(files, "none", "name", hashlane.Distinct(key=KEY))
    with pytest.raises(TypeError, match="by is 7; expected the name"):
        distributed.groups(files, 7, "name", hashlane.Distinct(key=KEY))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a sketch that groups begin with"):
        distributed.groups(files, "src", "name", "distinct")  # type: ignore[arg-type]
    used = hashlane.Distinct(key=KEY)
    used.update(["a"])
    with pytest.raises(ValueError):
        distributed.groups(files, "src", "name", used)


def test_file_systems_that_are_none_are_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="filesystem is 7; expected a file system of pyarrow.fs or of fsspec"):
        distributed.spread("a.parquet", "key", "crc32c", filesystem=7)
