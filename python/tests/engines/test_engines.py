from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bytes_of_one_process import EXPECTED, compare, compare_groups, errors
from flows import KEY

from hashlane import distributed


@pytest.mark.parametrize("workers", [None, 2])
def test_engines_give_the_bytes_of_one_process(
    files: pathlib.Path, engine: str, workers: Any, small_pieces: None
) -> None:
    compare(str(files / "*.parquet"), engine=engine, workers=workers)


def test_groups_are_those_of_one_process(files: pathlib.Path, engine: str, small_pieces: None) -> None:
    compare_groups(str(files / "*.parquet"), engine=engine, workers=2)


def test_engines_raise_the_errors_of_one_process(
    files: pathlib.Path, engine: str, small_pieces: None
) -> None:
    raised = errors(files, engine=engine)
    assert len(raised) == len(EXPECTED)
    for (kind, message), (kinds, pattern) in zip(raised, EXPECTED):
        assert kind in kinds and re.search(pattern, message), message
        assert "\n" not in message


def test_files_without_rows_are_an_empty_sketch(
    tmp_path: pathlib.Path, engine: str, small_pieces: None
) -> None:
    pq.write_table(pa.table({"key": pa.array([], pa.uint64())}), tmp_path / "a.parquet")
    found = distributed.spread(tmp_path, "key", "siphash-1-3", KEY, engine=engine)
    assert found.result().keys == 0


def test_dask_needs_no_cluster(files: pathlib.Path, small_pieces: None) -> None:
    import dask

    for scheduler in ["threads", "synchronous"]:
        with dask.config.set(scheduler=scheduler):
            compare(files, engine="dask", workers=2)


#: A program, as the runner of Daft can be set once in a process.
ON_RAY = """
import json, sys
import daft, ray
from bytes_of_one_process import compare, errors
from hashlane.distributed import _read, _run
import pathlib

ray.init(sys.argv[2], log_to_driver=False)
daft.set_runner_ray()
_read._SMALL, _run._TASK = 0, 1000
compare(sys.argv[1] + "/*.parquet", engine="daft", workers=2)
raised = errors(pathlib.Path(sys.argv[1]), engine="daft", workers=2)
print(json.dumps([str(message) for kind, message in raised]))
"""


def test_daft_runs_on_ray(files: pathlib.Path, ray: Any) -> None:
    tests = str(pathlib.Path(__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", ON_RAY, str(files), ray.get_runtime_context().gcs_address],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": tests},
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    raised = json.loads(run.stdout.splitlines()[-1])
    assert len(raised) == len(EXPECTED)
    assert all(re.search(pattern, message) for message, (_, pattern) in zip(raised, EXPECTED))
