from __future__ import annotations

import ast
import inspect
import pathlib
from typing import Any

import hashlane
from hashlane import _native, distributed, dns, ndn, pcap, study

FOLDER = pathlib.Path(hashlane.__file__).parent


def test_the_stub_has_the_functions_of_the_native_part() -> None:
    stub = ast.parse((FOLDER / "_native.pyi").read_text())
    stated = {node.name: [arg.arg for arg in node.args.args] for node in stub.body if isinstance(node, ast.FunctionDef)}
    actual = {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(_native).items()
        if callable(value) and not isinstance(value, type) and not name.startswith("__")
    }
    assert stated == actual
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.name in ("Array", "ChunkedArray", "Sketch"):
            for method in node.body:
                assert isinstance(method, ast.FunctionDef)
                assert hasattr(getattr(_native, node.name), method.name), method.name


def test_everything_public_is_documented_and_typed() -> None:
    assert (FOLDER / "py.typed").exists()
    for module in (hashlane, distributed, dns, ndn, pcap, study):
        for name in module.__all__:
            value: Any = getattr(module, name)
            if inspect.isfunction(value):
                assert inspect.getdoc(value), name
                assert all(
                    parameter.annotation is not parameter.empty
                    for parameter in inspect.signature(value).parameters.values()
                ), name
            elif inspect.isclass(value):
                assert inspect.getdoc(value), name


def test_no_other_package_is_imported_with_this_one() -> None:
    import subprocess
    import sys

    program = "import sys, hashlane; print({'numpy', 'pyarrow', 'polars', 'pandas'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
