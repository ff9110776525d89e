from __future__ import annotations

import os
import pathlib
import random
import signal
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import hashlane
from hashlane import Distinct, Imbalance, Prefixes, Spread, distributed

KEY = bytes(range(50, 66))
ENDS = ["src", "sport", "dst", "dport"]
FILES, ROWS = 5, 4000


def table(seed: int, rows: int = ROWS) -> Any:
    draw = random.Random(seed)
    return pa.table(
        {
            "src": [f"10.0.0.{draw.randrange(256)}" for _ in range(rows)],
            "sport": pa.array([draw.randrange(1 << 16) for _ in range(rows)], pa.uint16()),
            "dst": [None if row == 9 else f"10.1.0.{draw.randrange(256)}" for row in range(rows)],
            "dport": pa.array([443] * rows, pa.uint16()),
            "bytes": [draw.randrange(1500) for _ in range(rows)],
            "name": [f"/{draw.randrange(10)}/{row}" for row in range(rows)],
        }
    )


@pytest.fixture
def files(tmp_path: pathlib.Path) -> pathlib.Path:
    for seed in range(FILES):
        pq.write_table(table(seed), tmp_path / f"flows-{seed}.parquet", row_group_size=700)
    return tmp_path


@pytest.fixture
def whole() -> Any:
    return pa.concat_tables([table(seed) for seed in range(FILES)])


@pytest.fixture(params=distributed.ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "ray":
        ray = pytest.importorskip("ray")
        if not ray.is_initialized():
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        # Several tasks for each file.
        monkeypatch.setattr(distributed, "_TASK", 1000)
    return request.param


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_engines_give_the_bytes_of_one_process(
    files: pathlib.Path, whole: Any, engine: str, workers: Any
) -> None:
    pattern, options = str(files / "*.parquet"), {"engine": engine, "workers": workers}
    ends = [whole[name] for name in ENDS]

    spread = Spread("siphash-1-3", 512, KEY)
    spread.update(*ends)
    found: Any = distributed.spread(pattern, ENDS, "siphash-1-3", KEY, buckets=512, **options)
    assert found.to_bytes() == spread.to_bytes() and found.result().keys == FILES * (ROWS - 1)

    distinct = Distinct(key=KEY)
    distinct.update(whole["name"])
    found = distributed.distinct(files, "name", KEY, **options)
    assert found.to_bytes() == distinct.to_bytes()

    prefixes = Prefixes("ndn", key=KEY)
    prefixes.update(hashlane.parse_name(whole["name"]))
    found = distributed.prefixes(pattern, "name", "ndn", KEY, **options)
    assert found.to_bytes() == prefixes.to_bytes()

    imbalance = Imbalance("rss", 8, candidates=10, key=KEY)
    imbalance.update(*ends, bytes=whole["bytes"])
    found = distributed.imbalance(
        pattern, ENDS, "rss", 8, KEY, candidates=10, bytes="bytes", **options
    )
    assert found.to_bytes() == imbalance.to_bytes()
    assert found.candidate(found.result().best.number) == imbalance.candidate(found.result().best.number)


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


def test_files_that_do_not_fit_are_named(files: pathlib.Path, engine: str) -> None:
    def spread(columns: Any = "name", source: Any = files) -> Any:
        return distributed.spread(source, columns, "siphash-1-3", KEY, engine=engine)

    with pytest.raises(FileNotFoundError, match="no-such.*no file"):
        spread(source=files / "no-such*.parquet")
    with pytest.raises(ValueError, match=r"flows-0.parquet: no column 'nam'; there are src, sport"):
        spread("nam")
    with pytest.raises(ValueError, match=r"flows-0.parquet: row \d+: src .* is no IP address"):
        spread(["name", "sport", "dst", "dport"])
    with pytest.raises(ValueError, match="expected one name, or four"):
        spread(["src", "dst"])
    deep = files / "deep" / "bad.parquet"
    deep.parent.mkdir()
    addresses = ["::1"] * 69_999 + ["none"]
    pq.write_table(pa.table({"address": addresses, "port": [1] * 70_000}), deep, row_group_size=3000)
    with pytest.raises(ValueError, match="bad.parquet: row 69999: src .none. is no IP address"):
        spread(["address", "port", "address", "port"], deep)
    other = files / "flows-7.parquet"
    pq.write_table(pa.table({"name": [1]}), other)
    with pytest.raises(ValueError, match="flows-7.parquet: column 'name' is of type int64, but string"):
        spread()
    pq.write_table(pa.table({"x": [1]}), other)
    with pytest.raises(ValueError, match="flows-7.parquet: no column 'name'"):
        spread()
    data = (files / "flows-1.parquet").read_bytes()
    other.write_bytes(data[: len(data) // 2])
    with pytest.raises((ValueError, OSError), match="flows-7.parquet"):
        spread()
    # The end of the file is intact, the rows are not.
    other.write_bytes(data[:4] + bytes(len(data) // 2) + data[len(data) // 2 + 4 :])
    with pytest.raises((ValueError, OSError), match="flows-7.parquet"):
        spread()


def test_arguments_are_checked_before_files_are_read() -> None:
    with pytest.raises(ValueError, match="engine 'spark' is not supported; there are local, ray"):
        distributed.spread("none", "a", "crc32c", engine="spark")
    with pytest.raises(ValueError, match="needs a key"):
        distributed.spread("none", "a", "siphash-1-3")
    with pytest.raises(ValueError, match="workers is 0"):
        distributed.spread("none", "a", "crc32c", workers=0)
    with pytest.raises(ValueError, match="files end with"):
        distributed.spread(__file__, "a", "crc32c")
    with pytest.raises(ValueError, match="expected four"):
        distributed.imbalance("none", ["src"], "rss", 4, KEY)


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


def test_a_killed_worker_of_ray_does_not_change_the_result(files: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ray = pytest.importorskip("ray")
    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    mark, work = tmp_path / "killed", distributed._work

    def dies_once(job: Any, piece: Any, types: Any) -> bytes:
        if piece.path.endswith("flows-2.parquet") and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return work(job, piece, types)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "_work", dies_once)
        found = distributed.spread(files, "name", "siphash-1-3", KEY, engine="ray")
    assert mark.exists()
    assert found.to_bytes() == distributed.spread(files, "name", "siphash-1-3", KEY).to_bytes()
