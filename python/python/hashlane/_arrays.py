"""Columns that functions return: in the form of the column that came in."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Protocol, Sequence, Union

from . import _native


class ArrowArray(Protocol):
    """One Arrow array, such as `pyarrow.Array`."""

    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Arrow arrays in chunks, such as `pyarrow.ChunkedArray` or `polars.Series`."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...


class NumPyArray(Protocol):
    """A NumPy array."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


#: A column: an Arrow array, whole or in chunks, a Series of Polars or pandas, an Index of pandas, a NumPy array,
#: or a list.
Column = Union[
    ArrowArray,
    ArrowStream,
    NumPyArray,
    Sequence[Optional[str]],
    Sequence[Optional[bytes]],
    Sequence[Optional[int]],
]


class Array:
    """A column of results, for every library that reads the Arrow PyCapsule interface.

    `pyarrow.array(column)` or `pyarrow.chunked_array(column)`, `polars.Series(column)` and
    `numpy.asarray(column)` take it; the first three without a copy.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: Union[_native.Array, _native.ChunkedArray]) -> None:
        self._inner = inner

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    def __getitem__(self, row: int) -> Any:
        """The value of one row, `None` for a null; a negative `row` counts from the end."""
        value: Any = self._inner[row].as_py()
        return value

    def __arrow_c_array__(
        self, requested_schema: Optional[object] = None
    ) -> tuple[object, object]:
        if isinstance(self._inner, _native.ChunkedArray):
            return _native.combined(self._inner).__arrow_c_array__(requested_schema)
        return self._inner.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return _native.chunked(self._inner).__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Optional[object] = None, copy: Optional[bool] = None) -> Any:
        import numpy

        return numpy.asarray(self._inner.__array__(), dtype=dtype)

    def to_pylist(self) -> list[Any]:
        """The values as Python objects, `None` for nulls."""
        return self._inner.to_pylist()

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[row]) for row in range(min(len(self), 6)))
        more = ", …" if len(self) > 6 else ""
        return f"<hashlane.Array of {len(self)} rows: [{shown}{more}]>"


class Table:
    """A table of results, for every library that reads the Arrow PyCapsule interface.

    `pyarrow.table(table)`, `polars.DataFrame(table)` and `pandas.DataFrame.from_arrow(table)` take it.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: ArrowStream) -> None:
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._inner.__arrow_c_stream__(requested_schema)

    def to_polars(self) -> Any:
        """The table as `polars.DataFrame`."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """The table as `pyarrow.Table`."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """The table as `pandas.DataFrame`. Needs pyarrow."""
        return self.to_arrow().to_pandas()


def readable(column: Any) -> Any:
    """A column as the native functions read it: a Series or Index of pandas as an Arrow array."""
    if _library(column) != "pandas":
        return column
    import pyarrow

    return pyarrow.array(column, from_pandas=True)


def like(result: Union[_native.Array, _native.ChunkedArray], source: Any) -> Any:
    """A result in the form of the column that it was computed from.

    pyarrow, Polars and pandas get their own types, a Series with the index of `source`; NumPy gets an array
    if the values are numbers; everything else gets an :class:`Array`.
    """
    library = _library(source)
    if library == "pyarrow":
        import pyarrow

        if isinstance(result, _native.ChunkedArray):
            return pyarrow.chunked_array(result)
        return pyarrow.array(result)
    if library == "polars":
        import polars

        return polars.Series(Array(result)).alias(getattr(source, "name", ""))
    if library == "pandas":
        import pandas
        import pyarrow

        column = pyarrow.chunked_array(_native.chunked(result))
        # Arrow memory of pandas has no `%`, which hashes are made for.
        numbers = {"uint64": pandas.UInt64Dtype, "uint32": pandas.UInt32Dtype}.get(str(column.type))
        values = numbers().__from_arrow__(column) if numbers else pandas.arrays.ArrowExtensionArray(column)
        if isinstance(source, pandas.Index):
            return pandas.Index(values, name=source.name)
        return pandas.Series(values, index=source.index, name=source.name)
    if library == "numpy" and _native.is_numeric(result):
        import numpy

        return numpy.asarray(result.__array__())
    return Array(result)


def _library(column: Any) -> str:
    return type(column).__module__.partition(".")[0]
