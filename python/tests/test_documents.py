from __future__ import annotations

import ast
import pathlib
import re
import shutil
from typing import Any

import pytest

from hashlane import study

BLOCK = re.compile(r"^```(python[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(block: str, where: str, namespace: dict[str, Any]) -> int:
    """Run a block, and compare each expression that ends with a comment with it. Returns their number."""
    lines, compared = block.splitlines(), 0
    for node in ast.parse(block).body:
        _, mark, comment = lines[(node.end_lineno or 1) - 1].partition("  # ")
        if isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), where, "eval"), namespace)
            if mark:
                assert repr(value) == comment, f"{where}: {lines[node.lineno - 1]}"
                compared += 1
        else:
            assert not mark, f"{where}: a comment after a statement"
            exec(compile(ast.Module([node], []), where, "exec"), namespace)
    return compared


@pytest.mark.parametrize(
    ("document", "blocks", "results"),
    [
        ("docs/python.md", 13, 29),
        ("docs/sketches.md", 4, 8),
        ("docs/start/python.md", 2, 1),
        ("python/README.md", 1, 3),
    ],
)
def test_the_examples_run(
    repository: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    document: str,
    blocks: int,
    results: int,
) -> None:
    pytest.importorskip("polars")
    for name in ["capture.pcap", "traffic.pcap"]:
        shutil.copy(repository / "vectors" / "captures" / "ipv4.pcap", tmp_path / name)
    for name in ["before", "after"]:
        shutil.copytree(min((repository / "records").glob("*/quick")), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "example"}
    found, compared = 0, 0
    for language, block in BLOCK.findall((repository / document).read_text(encoding="utf-8")):
        if language in ("python spark", "python daft"):
            # Those of engines are run in engines/test_recipes.py.
            continue
        if language == "python study":
            try:
                study.command()
            except FileNotFoundError:
                continue
            # Two rounds in place of the study's own number.
            block = block.replace(', out="results"', ', out="results", repetitions=2')
        found += 1
        compared += run(block, document, namespace)
    assert found >= blocks and compared >= results, (found, compared)
