from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from flows import KEY
from test_documents import BLOCK, run

import hashlane


def test_the_recipes_for_engines_run(
    repository: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, spark: Any, daft: Any
) -> None:
    document = (repository / "docs" / "python.md").read_text(encoding="utf-8")
    section = document[document.index("## Files larger than memory") : document.index("## Names")]
    monkeypatch.chdir(tmp_path)
    # Spark's process has another folder.
    section = section.replace('read.parquet("local")', f'read.parquet("{tmp_path}/local")')
    namespace: dict[str, Any] = {"__name__": "example", "hashlane": hashlane, "key": KEY, "np": np, "pa": pa}
    blocks = BLOCK.findall(section)
    assert {"python", "python spark", "python daft"} <= {language for language, _ in blocks}
    assert sum(run(block, "docs/python.md", namespace) for _, block in blocks) >= 6
