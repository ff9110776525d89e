"""Clusters, one of each engine for all tests."""

from __future__ import annotations

import logging
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from flows import write

from hashlane.distributed import _read, _run


@pytest.fixture
def files(tmp_path: pathlib.Path) -> pathlib.Path:
    return write(tmp_path)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tasks for each file."""
    monkeypatch.setattr(_read, "_SMALL", 0)
    monkeypatch.setattr(_run, "_TASK", 1000)
    monkeypatch.setattr(_run, "_THREADS", 1000)


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of a server of S3. Clusters that start later have it in their environment."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    names = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "hashlane",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    yield names["AWS_ENDPOINT_URL"]
    for name, value in before.items():
        os.environ.pop(name)
        if value is not None:
            os.environ[name] = value
    server.stop()


@pytest.fixture(scope="session")
def ray(s3: str) -> Iterator[Any]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="session")
def spark(s3: str) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    from hashlane.distributed import _spark

    session = _spark._local_session(SparkSession, 2)
    session.sparkContext.setLogLevel("OFF")
    # Of a few thousand rows; 200 are usual, each of which starts functions of Python.
    session.conf.set("spark.sql.shuffle.partitions", "4")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask(s3: str) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    # A cluster of this kind forgets a worker that, 15 seconds after it died, is starting once more.
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
            with Client(cluster) as client:
                yield client


@pytest.fixture(scope="session")
def daft() -> Any:
    import daft

    # It would run on Ray, which other tests start.
    daft.set_runner_native()
    return daft


@pytest.fixture(params=_run.ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name != "local":
        request.getfixturevalue(name)
    return name
