"""Files of flows that the tests of data sets share."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

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


def whole() -> Any:
    """The rows of all files."""
    return pa.concat_tables([table(seed) for seed in range(FILES)])


def write(folder: pathlib.Path) -> pathlib.Path:
    for seed in range(FILES):
        pq.write_table(table(seed), folder / f"flows-{seed}.parquet", row_group_size=700)
    return folder
