from __future__ import annotations

import csv
import os
import pathlib
import signal
import stat
import sys
import threading

import pytest

import hashlane
from hashlane import study


@pytest.fixture
def run(repository: pathlib.Path) -> pathlib.Path:
    return min((repository / "records").glob("*/quick"))


def test_records_are_the_rows_of_the_file(run: pathlib.Path) -> None:
    table = hashlane.records(run).to_arrow()
    with (run / "records.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert table.num_rows == len(rows) > 10 and table.column_names[:11] == list(rows[0])[:11]
    for name in ["study", "scheme", "metric", "unit"]:
        assert table[name].to_pylist() == [row[name] for row in rows]
    for name in ["value", "low", "high", "samples"]:
        assert table[name].to_pylist() == [float(row[name]) for row in rows]
    # A file of a version before 0.3 has no such column: its intervals hold within one launch.
    assert table["launches"].to_pylist() == [float(row.get("launches", 1)) for row in rows]
    assert hashlane.records(run / "records.csv").to_arrow() == table


def test_tables_become_data_frames(run: pathlib.Path) -> None:
    pl = pytest.importorskip("polars")
    table = hashlane.records(run)
    assert table.to_polars().equals(pl.DataFrame(table))
    assert len(table.to_pandas()) == table.to_arrow().num_rows


def test_a_comparison_has_the_ratios_of_two_runs(run: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lines = (run / "records.csv").read_text().splitlines()
    fields = [line.split(",") for line in lines[1:]]
    chosen = next(row for row in fields if row[6] == "cycles" and float(row[7]) > 0)
    header, path = lines[0], tmp_path / "records.csv"
    halved = chosen[:7] + [repr(float(value) / 2) for value in chosen[7:10]] + chosen[10:]
    path.write_text(f"{header}\n{','.join(halved)}\n")
    rows = hashlane.compare(run, tmp_path).to_arrow().to_pylist()
    assert len(rows) == 1 and rows[0]["scheme"] == chosen[3]
    assert rows[0]["ratio"] == pytest.approx(0.5) and rows[0]["low"] <= 0.5 <= rows[0]["high"]
    assert hashlane.compare(run, path, metrics=[chosen[5]]).to_arrow().num_rows == 1
    assert hashlane.compare(run, path, metrics=chosen[5]).to_arrow().num_rows == 1
    with pytest.raises(ValueError, match=f'no metric "cycles" in both; the metrics are {chosen[5]}'):
        hashlane.compare(run, path, metrics=["cycles"])


def test_files_without_records_are_refused(run: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="records.csv"):
        hashlane.records(tmp_path)
    path = tmp_path / "records.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="records.csv:1: the columns must be"):
        hashlane.records(tmp_path)
    # A file that was cut off.
    path.write_text((run / "records.csv").read_text()[:-40])
    with pytest.raises(ValueError, match="records.csv:"):
        hashlane.records(path)


def test_a_study_runs_and_shows_its_report(tmp_path: pathlib.Path) -> None:
    try:
        study.command()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    steps: list[tuple[str, int, int]] = []
    result = study.run(
        "flow-hash",
        out=tmp_path / "out",
        schemes=["base/single", "siphash-1-3/burst"],
        repetitions=2,
        progress=lambda *step: steps.append(step),
    )
    table = result.records.to_arrow()
    assert {"siphash-1-3/burst"} <= set(table["scheme"].to_pylist())
    assert "siphash-1-3/burst" in result.text and repr(result) == result.text
    assert "<iframe" in result._repr_html_() and "&lt;svg" in result._repr_html_()
    assert all(name == "flow-hash" and 0 <= done < steps for name, done, steps in steps)
    with pytest.raises(study.StudyError, match='no study "flow-hsah": did you mean "flow-hash"'):
        study.run("flow-hsah", out=tmp_path / "out")


@pytest.fixture
def script(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A command of the tests in place of `hashlane`, for what a real one does seldom."""
    path = tmp_path / "hashlane"
    path.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        "print('flow-hash, 2 s: step 3 of 1,200: w: x', file=sys.stderr, flush=True)\n"
        "try:\n    time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    open({str(tmp_path / 'stopped')!r}, 'w').close()\n    sys.exit(130)\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HASHLANE", str(path))
    return tmp_path


def test_ctrl_c_stops_the_command(script: pathlib.Path) -> None:
    steps = []

    def progress(*step: object) -> None:
        steps.append(step)
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        study.run("flow-hash", progress=progress)
    assert steps == [("flow-hash", 2, 1200)] and (script / "stopped").exists()


def test_a_missing_command_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HASHLANE", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="of the variable HASHLANE, is no program; install it"):
        study.run("flow-hash")
    monkeypatch.delenv("HASHLANE")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: os.fspath(tmp_path))
    with pytest.raises(FileNotFoundError, match="it is not on PATH; install it"):
        study.run("flow-hash")
