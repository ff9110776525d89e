from __future__ import annotations

import pathlib
from typing import Any, Optional

import numpy as np
import pyarrow as pa
import pytest
from flows import KEY
from test_documents import BLOCK, run

import hashlane


@pytest.mark.parametrize(
    ("document", "begin", "end", "languages", "results"),
    [
        ("docs/python.md", "## Files larger", "## Names", {"python", "python spark", "python daft"}, 3),
        ("docs/engines.md", "# ", None, {"python spark", "python daft"}, 9),
    ],
)
def test_the_recipes_for_engines_run(
    repository: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    spark: Any,
    daft: Any,
    document: str,
    begin: str,
    end: Optional[str],
    languages: set[str],
    results: int,
) -> None:
    text = (repository / document).read_text(encoding="utf-8")
    section = text[text.index(begin) : None if end is None else text.index(end)]
    monkeypatch.chdir(tmp_path)
    # Spark's process has another folder.
    section = section.replace('read.parquet("local")', f'read.parquet("{tmp_path}/local")')
    namespace: dict[str, Any] = {"__name__": "example", "hashlane": hashlane, "key": KEY, "np": np, "pa": pa}
    blocks = BLOCK.findall(section)
    assert {language for language, _ in blocks} == languages
    assert sum(run(block, document, namespace) for _, block in blocks) >= results
