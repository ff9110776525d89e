"""Workers and clusters that end in the middle of the work. HASHLANE_KILLS: kills of each engine."""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flows import KEY

import hashlane
from hashlane import distributed
from hashlane.distributed import _read, _run

KILLS = int(os.environ.get("HASHLANE_KILLS", "1"))

#: Rows of a piece, and pieces.
ROWS, PIECES = 100_000, 24


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("kills")
    keys = np.random.default_rng(7).integers(0, 1 << 63, ROWS * PIECES, dtype=np.uint64)
    for number, half in enumerate(np.split(keys, 2)):
        rows = pa.table({"key": half, "group": half % 100})
        pq.write_table(rows, folder / f"{number}.parquet", row_group_size=ROWS)
    return folder


@pytest.fixture(scope="module")
def expected(data: pathlib.Path) -> bytes:
    return distributed.spread(data, "key", "siphash-2-4", KEY, workers=1).to_bytes()


class Killer(threading.Thread):
    """Sends SIGKILL to one process below this one while it reads a file of the data, `delay` seconds or more
    after the first does."""

    def __init__(self, data: pathlib.Path, delay: float) -> None:
        super().__init__(daemon=True)
        self.data, self.delay = data, delay
        self.killed: Optional[int] = None
        self.over = threading.Event()

    def run(self) -> None:
        first = None
        while not self.over.is_set():
            pids = processes.below(os.getpid())
            readers = sorted(pid for pid in pids if processes.reads(pid, self.data))
            first = first or (time.monotonic() if readers else None)
            if first and readers and time.monotonic() >= first + self.delay:
                os.kill(readers[0], signal.SIGKILL)
                self.killed = readers[0]
                return
            time.sleep(0.005)


@pytest.mark.parametrize("seed", range(KILLS))
@pytest.mark.parametrize("name", ["ray", "spark", "dask"])
def test_a_killed_worker_does_not_change_the_result(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    data: pathlib.Path,
    expected: bytes,
    name: str,
    seed: int,
) -> None:
    request.getfixturevalue(name)
    monkeypatch.setattr(_read, "_SMALL", 0)
    monkeypatch.setattr(_run, "_TASK", ROWS)
    found = kill(data, seed, lambda: distributed.spread(data, "key", "siphash-2-4", KEY, engine=name, workers=2))
    assert found.to_bytes() == expected


@pytest.mark.parametrize("name", ["ray", "spark", "dask"])
def test_a_killed_worker_does_not_change_groups(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, data: pathlib.Path, name: str
) -> None:
    request.getfixturevalue(name)
    sketch = hashlane.Distinct(precision=8, key=KEY)
    expected = distributed.groups(data, "group", "key", sketch, workers=1).to_bytes()
    monkeypatch.setattr(_read, "_SMALL", 0)
    monkeypatch.setattr(_run, "_TASK", ROWS)
    found = kill(data, 1, lambda: distributed.groups(data, "group", "key", sketch, engine=name, workers=2))
    assert found.to_bytes() == expected


def kill(data: pathlib.Path, seed: int, call: Callable[[], Any]) -> Any:
    """The result of a call during which a worker was killed."""
    delay, killed, found = random.Random(seed).uniform(0, 0.5), None, None
    # Earlier each time, if the work was over before the kill.
    while killed is None and delay > 0.001:
        killer, delay = Killer(data, delay), delay / 2
        killer.start()
        try:
            found = call()
        finally:
            killer.over.set()
            killer.join()
        killed = killer.killed
    assert killed is not None
    return found


#: A program that ends its own cluster in the middle.
GONE = """
import os, signal, sys, threading, time
import processes
from hashlane import distributed
from hashlane.distributed import _read, _run

folder, engine = sys.argv[1:]
_read._SMALL, _run._TASK = 0, 100_000


def end(stop):
    while not any(processes.reads(pid, folder) for pid in processes.below(os.getpid())):
        time.sleep(0.01)
    stop()


def kill(word):
    for pid in processes.below(os.getpid()):
        if word in processes.command(pid):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    if engine == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        stop = lambda: kill("/raylet/raylet ")
    if engine == "spark":
        stop = lambda: kill("org.apache.spark")
    if engine == "dask":
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        client = Client(cluster)
        stop = cluster.close
    threading.Thread(target=end, args=(stop,), daemon=True).start()
    try:
        distributed.spread(folder, "key", "siphash-2-4", bytes(16), engine=engine, workers=2)
        print("no error")
    except RuntimeError as error:
        print(error)
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module", autouse=True)
def gone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Programs that lose their cluster, beside the other tests: Ray notices it after 15 seconds."""
    folder = tmp_path_factory.mktemp("gone")
    (folder / "data").mkdir()
    keys = np.arange(ROWS * PIECES, dtype=np.uint64)
    pq.write_table(pa.table({"key": keys}), folder / "data" / "0.parquet", row_group_size=ROWS)
    script = folder / "gone.py"
    script.write_text(GONE)
    paths = [pathlib.Path(__file__).parent, pathlib.Path(__file__).parents[1]]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    started = {}
    for engine in ["ray", "spark", "dask"]:
        command = [sys.executable, script, folder / "data", engine]
        started[engine] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    yield started
    for process in started.values():
        process.kill()


def test_a_cluster_that_ends_is_an_error(gone: dict[str, subprocess.Popen[str]]) -> None:
    for engine, process in gone.items():
        output, _ = process.communicate(timeout=180)
        assert f"engine '{engine}' failed: " in output and output.endswith("repeat the call\n"), output
