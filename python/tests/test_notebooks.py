"""The notebooks of the repository: executed, and their outputs compared with the committed ones.

`fib-entries`, which hashes 10 million names, is executed with `HASHLANE_LONG=1` only, and `count-clients` with
the path of the DuckDB extension in `HASHLANE_DUCKDB` only. With `HASHLANE_WRITE_NOTEBOOKS=1`, all are
executed, and the outputs are written instead.
"""

from __future__ import annotations

import base64
import copy
import os
import pathlib
import re
import sys
from typing import Any, Iterator

import pytest

# The committed outputs come from the packages that are locked for the newest Pythons.
if sys.version_info < (3, 11):
    pytest.skip("notebooks are run on Python 3.11 or newer", allow_module_level=True)

import nbclient
import nbformat

NAMES = ["audit-python-hash", "conntrack-buckets", "count-clients", "deduplicate", "ecmp-imbalance", "fib-entries"]
WRITE = os.environ.get("HASHLANE_WRITE_NOTEBOOKS") == "1"
LONG = WRITE or os.environ.get("HASHLANE_LONG") == "1"
EXECUTED = [name for name in NAMES if LONG or name != "fib-entries"]
#: Bytes of a chart, at most.
CHART = 60_000
#: Seconds of a cell, at most: for the end of a kernel that hangs.
PATIENCE = 900


@pytest.fixture(scope="module", autouse=True)
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of Jupyter and matplotlib that are not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ["IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"]:
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable.lower())))
        # Writes the list of fonts once; a kernel that has to would say so in its output.
        import matplotlib.font_manager

        yield


def execute(notebook: Any, folder: pathlib.Path) -> Any:
    """A copy of a notebook with the outputs of a new kernel; the streams of a cell in one piece each."""
    notebook = copy.deepcopy(notebook)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", resources=resources).execute()
    for cell in code(notebook):
        whole: list[Any] = []
        for output in cell.outputs:
            if whole and output.output_type == whole[-1].output_type == "stream" and output.name == whole[-1].name:
                whole[-1].text += output.text
            else:
                whole.append(output)
        cell.outputs = whole
        cell.metadata.pop("execution", None)
    return notebook


def code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[str]:
    """Outputs of a cell as they are compared: texts whole, charts by their kind."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(f"{output.name}:\n{output.text}")
        else:
            for kind, value in sorted(output.data.items()):
                found.append(f"{kind}:\n{value}" if kind.startswith("text/") else kind)
    return found


def differences(name: str, expected: Any, found: Any) -> list[str]:
    """A text for each cell whose outputs differ."""
    listed = []
    for number, (before, after) in enumerate(zip(expected.cells, found.cells), start=1):
        if before.cell_type == "code" and texts(before) != texts(after):
            sides = ["\n".join(texts(side)) or "nothing" for side in (before, after)]
            listed.append(f"{name}.ipynb, cell {number}:\n--- expected\n{sides[0]}\n--- found\n{sides[1]}")
    return listed


def read(repository: pathlib.Path, name: str) -> Any:
    return nbformat.read(repository / "notebooks" / f"{name}.ipynb", as_version=4)


def test_every_notebook_is_run(repository: pathlib.Path) -> None:
    assert sorted(path.stem for path in (repository / "notebooks").glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", EXECUTED)
def test_a_notebook_gives_its_committed_outputs(repository: pathlib.Path, name: str) -> None:
    if name == "count-clients" and "HASHLANE_DUCKDB" not in os.environ:
        pytest.skip("HASHLANE_DUCKDB names no extension: `cargo xtask python` builds it")
    committed = read(repository, name)
    found = execute(committed, repository / "notebooks")
    if WRITE:
        # Without the version of this Python.
        found.metadata.language_info = {"name": "python"}
        nbformat.write(found, repository / "notebooks" / f"{name}.ipynb")
        return
    listed = differences(name, committed, found)
    advice = "\nAfter an intended change: HASHLANE_WRITE_NOTEBOOKS=1 cargo xtask python"
    assert not listed, "\n".join(listed) + advice


@pytest.mark.parametrize("name", NAMES)
def test_committed_outputs_are_complete_and_repeatable(repository: pathlib.Path, name: str) -> None:
    notebook = read(repository, name)
    nbformat.validate(notebook)
    assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    for number, cell in enumerate(notebook.cells, start=1):
        wide = [line for line in cell.source.splitlines() if len(line) > 110 and "](" not in line]
        assert not wide, f"{name}.ipynb, cell {number}: wider than 110 columns: {wide}"
        for output in cell.get("outputs", []):
            assert output.output_type != "error" and output.get("name") != "stderr", f"{name}.ipynb, cell {number}"
            for kind, value in output.get("data", {}).items():
                if kind.startswith("image/"):
                    assert len(base64.b64decode(value)) < CHART, f"{name}.ipynb, cell {number}: chart too large"
        shown = "\n".join(texts(cell)) if cell.cell_type == "code" else ""
        vague = re.search(r" at 0x[0-9a-f]|/tmp/|/home/|/root/|site-packages", shown)
        assert vague is None, f"{name}.ipynb, cell {number}: differs from run to run: {vague}"


def test_a_changed_output_is_reported_with_its_cell() -> None:
    committed = nbformat.v4.new_notebook()
    committed.cells = [
        nbformat.v4.new_markdown_cell("# A sum"),
        nbformat.v4.new_code_cell("print('one')\nprint('two')\n1 + 1"),
    ]
    found = execute(committed, pathlib.Path(__file__).parent)
    [report] = differences("sum", committed, found)
    assert report == (
        "sum.ipynb, cell 2:\n--- expected\nnothing\n--- found\nstdout:\none\ntwo\n\ntext/plain:\n2"
    )
    assert differences("sum", found, execute(found, pathlib.Path(__file__).parent)) == []
    found.cells[1].outputs[1].data["text/plain"] = "3"
    [report] = differences("sum", found, execute(found, pathlib.Path(__file__).parent))
    assert "text/plain:\n3" in report and "text/plain:\n2" in report


def test_the_sample_of_connections_is_made_by_its_generator(
    repository: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(repository / "notebooks")
    import generate

    path = repository / "notebooks" / "conntrack-sample.txt"
    if WRITE:
        path.write_text(generate.conntrack(30), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == generate.conntrack(30)
