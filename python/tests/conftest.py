"""Paths and keys that the tests share."""

from __future__ import annotations

import os
import pathlib
import signal

import pytest

KEY = bytes(range(16))

# Python and its children ignore a Ctrl-C that was ignored at the start, as under nohup or an agent.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def repository() -> pathlib.Path:
    """The repository's folder, with vectors and records."""
    return pathlib.Path(os.environ.get("HASHLANE_REPOSITORY", pathlib.Path(__file__).parents[3]))
