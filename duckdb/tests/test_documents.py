"""The SQL of the documentation runs, and gives the rows that stand below it."""

from __future__ import annotations

import os
import pathlib
import re
import shutil

import pytest

from conftest import Connection, connect, dns_capture, ipfix

BLOCK = re.compile(r"^```sql( load)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATEMENT = re.compile(r"(.*?;)\n((?:-- [^\n]*\n)*)", re.DOTALL)


@pytest.mark.parametrize(
    ("document", "compared"),
    [("docs/duckdb.md", 9), ("docs/start/duckdb.md", 1), ("duckdb/README.md", 0)],
)
def test_the_examples_run(
    repository: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    document: str,
    compared: int,
) -> None:
    captures = repository / "vectors" / "captures"
    (tmp_path / "captures").mkdir()
    for name in ["captures/a.pcap", "captures/a.pcap.gz"]:
        if (document == "duckdb/README.md") == name.endswith(".gz"):
            shutil.copy(captures / "ipv4.pcap", tmp_path / name)
    shutil.copy(captures / "fragments.pcap", tmp_path)
    (tmp_path / "dns.pcap").write_bytes(dns_capture())
    (tmp_path / "flows.ipfix").write_bytes(ipfix([("192.0.2.1", 4000, "192.0.2.2", 443, 1500)]))
    (tmp_path / "dist").mkdir()
    shutil.copy(os.environ["HASHLANE_DUCKDB"], tmp_path / "dist")
    monkeypatch.chdir(tmp_path)
    db: Connection = connect()
    found = 0
    text = (repository / document).read_text(encoding="utf-8")
    for _, block in BLOCK.findall(text):
        for statement, rows in STATEMENT.findall(block):
            # The extension is loaded already.
            if statement.startswith("LOAD"):
                continue
            result = db.execute(statement).fetchall()
            if rows:
                # As DuckDB prints them.
                text_of = {True: "true", False: "false"}
                shown = [
                    " | ".join(text_of[value] if isinstance(value, bool) else str(value) for value in row)
                    for row in result
                ]
                assert shown[: rows.count("\n")] == [row[3:] for row in rows.splitlines()], statement
                found += 1
    assert found >= compared


def test_every_function_is_documented(db: Connection, repository: pathlib.Path) -> None:
    text = (repository / "docs" / "duckdb.md").read_text(encoding="utf-8")
    before = connect.__globals__["duckdb"].connect()
    names = "SELECT DISTINCT function_name FROM duckdb_functions()"
    known = {name for (name,) in before.execute(names).fetchall()}
    ours = {name for (name,) in db.execute(names).fetchall()} - known
    assert {"siphash13", "rss", "ehash", "name_prefixes", "spread", "imbalance"} <= ours
    assert [name for name in sorted(ours) if f"`{name}(" not in text] == []
