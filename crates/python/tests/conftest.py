"""Paths and keys that the tests share."""

from __future__ import annotations

import os
import pathlib

import pytest

KEY = bytes(range(16))


@pytest.fixture
def repository() -> pathlib.Path:
    """The repository's folder, with vectors and records."""
    return pathlib.Path(os.environ.get("HASHLANE_REPOSITORY", pathlib.Path(__file__).parents[3]))
