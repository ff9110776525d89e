"""Driver of the study python-cluster: sketches of Parquet files on this machine and on Ray.

Reads `write FILES ROWS KEYS`, `start CORES`, `refused BYTES`, `spread ENGINE WORKERS FILES` and `end` from
standard input. Writes `ok NAME=VALUE ...` or `error TEXT`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import resource
import secrets
import sys
import time
from typing import Any

PACKAGES = ["hashlane", "numpy", "pyarrow", "ray"]


class Driver:
    """Answers requests."""

    def __init__(self, folder: str, key: bytes, buckets: int) -> None:
        self.folder, self.key, self.buckets = folder, key, buckets

    def path(self, number: int) -> str:
        return os.path.join(self.folder, f"keys-{number:04}.parquet")

    def write(self, files: str, rows: str, keys: str) -> dict[str, int]:
        """Writes the numbers 0, 1, 2, ... as files of so many rows."""
        import numpy
        import pyarrow
        from pyarrow import parquet

        size = 0
        for number in range(int(files)):
            first, end = number * int(rows), min((number + 1) * int(rows), int(keys))
            table = pyarrow.table({"key": numpy.arange(first, end, dtype=numpy.uint64)})
            # Constant differences take next to no room, and reading costs little beside the hash.
            parquet.write_table(
                table,
                self.path(number),
                row_group_size=int(rows),
                use_dictionary=False,
                column_encoding={"key": "DELTA_BINARY_PACKED"},
                compression="none",
                write_statistics=False,
            )
            size += os.path.getsize(self.path(number))
        return {"bytes": size}

    def start(self, cores: str) -> dict[str, int]:
        """Starts a cluster of Ray on this machine."""
        import ray

        ray.init(
            num_cpus=int(cores),
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=100 << 20,
            _temp_dir=os.path.join(self.folder, "ray"),
        )
        return {}

    def refused(self, size: str) -> dict[str, int]:
        """1 if a worker of Ray cannot have so much memory."""
        import ray

        @ray.remote
        def ask(size: int) -> bool:
            try:
                return len(bytearray(size)) < size
            except MemoryError:
                return True

        return {"refused": int(ray.get(ask.remote(int(size))))}

    def spread(self, engine: str, workers: str, files: str) -> dict[str, int]:
        """Nanoseconds of a sketch of the first files, whose bytes go to the file `result`."""
        from hashlane import distributed

        paths = [self.path(number) for number in range(int(files))]
        begun = time.perf_counter_ns()
        sketch = distributed.spread(
            paths, "key", "siphash-1-3", self.key, buckets=self.buckets, engine=engine, workers=int(workers)
        )
        ns = time.perf_counter_ns() - begun
        with open(os.path.join(self.folder, "result"), "wb") as file:
            file.write(sketch.to_bytes())
        return {"ns": ns}

    def end(self) -> dict[str, int]:
        """Ends the cluster."""
        import ray

        ray.shutdown()
        return {}


def versions() -> tuple[list[str], list[str]]:
    """Packages that are missing, and the others with their versions."""
    missing, found = [], [f"Python={sys.version.split()[0]}"]
    for name in PACKAGES:
        try:
            importlib.import_module(name)
            found.append(f"{name}={importlib.metadata.version(name)}")
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            missing.append(name)
    return missing, found


def main() -> None:
    _, folder, key, buckets, limit = sys.argv
    # Nothing that a package prints reaches the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(line: str) -> None:
        print(" ".join(line.split()), file=answers, flush=True)

    # Of this process, and of all that it starts.
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
    # A token of this run alone, and none in the home folder.
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    missing, found = versions()
    if missing:
        answer(f"missing {' '.join(missing)}")
        return
    answer(f"ok {' '.join(found)}")
    driver = Driver(folder, bytes.fromhex(key), int(buckets))
    requests: dict[str, Any] = {
        "write": driver.write,
        "start": driver.start,
        "refused": driver.refused,
        "spread": driver.spread,
        "end": driver.end,
    }
    for line in sys.stdin:
        name, *arguments = line.split()
        try:
            fields = requests[name](*arguments)
            answer(" ".join(["ok", *(f"{field}={value}" for field, value in fields.items())]))
        except Exception as error:
            answer(f"error {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
