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
    `numpy.asarray(column)` take it; the first three without a copy. A slice is a view of the same memory.

    Columns of integers have `%`, `//`, `&`, `|`, `^` and `>>`, as in `bucket = hashes % 1024`, with an integer
    or a column of integers; the result has the type of the left column. All but nested columns compare with
    `==`, `!=`, `<`, `<=`, `>` and `>=`, by rows. A null gives a null. Pickles hold the values.
    """

    __slots__ = ("_inner",)
    __hash__ = None  # type: ignore[assignment]
    #: NumPy leaves operators with this class on the right to it.
    __array_ufunc__ = None

    def __init__(self, inner: Union[_native.Array, _native.ChunkedArray]) -> None:
        self._inner = inner

    def __len__(self) -> int:
        return len(self._inner)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    def __getitem__(self, row: Union[int, slice]) -> Any:
        """The value of one row, `None` for a null, or the rows of a slice; a negative `row` counts from the end."""
        if isinstance(row, slice):
            start, _, step = row.indices(len(self))
            return Array(_native.strided(self._inner, start, step, len(range(*row.indices(len(self))))))
        value: Any = self._inner[row].as_py()
        return value

    def _operate(self, operator: str, other: Any) -> Any:
        if isinstance(other, (bool, float, complex)):
            return NotImplemented
        return Array(_native.operate(self._inner, operator, readable(other)))

    def __mod__(self, other: Any) -> Any:
        return self._operate("%", other)

    def __floordiv__(self, other: Any) -> Any:
        return self._operate("//", other)

    def __and__(self, other: Any) -> Any:
        return self._operate("&", other)

    def __or__(self, other: Any) -> Any:
        return self._operate("|", other)

    def __xor__(self, other: Any) -> Any:
        return self._operate("^", other)

    def __rshift__(self, other: Any) -> Any:
        return self._operate(">>", other)

    def __eq__(self, other: Any) -> Any:
        return self._operate("==", other)

    def __ne__(self, other: Any) -> Any:
        return self._operate("!=", other)

    def __lt__(self, other: Any) -> Any:
        return self._operate("<", other)

    def __le__(self, other: Any) -> Any:
        return self._operate("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._operate(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._operate(">=", other)

    def __bool__(self) -> bool:
        raise ValueError("a column has no truth value: convert it by to_numpy(), and use .all() or .any()")

    def __arrow_c_array__(
        self, requested_schema: Optional[object] = None
    ) -> tuple[object, object]:
        if isinstance(self._inner, _native.ChunkedArray):
            return _native.combined(self._inner).__arrow_c_array__(requested_schema)
        return self._inner.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return _native.chunked(self._inner).__arrow_c_stream__(requested_schema)

    def __arrow_array__(self, type: Optional[object] = None) -> Any:
        array = self.to_arrow()
        if type is not None:
            array = array.cast(type)
        return array.combine_chunks() if hasattr(array, "combine_chunks") else array

    def __array__(self, dtype: Optional[object] = None, copy: Optional[bool] = None) -> Any:
        import numpy

        if _native.null_count(self._inner):
            # NumPy has no nulls: objects, as pandas makes of them.
            return numpy.array(self.to_pylist(), dtype=object if dtype is None else dtype)
        array = numpy.asarray(self._inner.__array__(), dtype=dtype)
        return array.copy() if copy else array

    def __reduce__(self) -> Any:
        return _unpickled, (_native.to_buffers(self._inner),)

    def to_pylist(self) -> list[Any]:
        """The values as Python objects, `None` for nulls."""
        return self._inner.to_pylist()

    def to_arrow(self) -> Any:
        """The column as `pyarrow.Array`, or as `ChunkedArray` if it has chunks, without a copy."""
        import pyarrow

        if isinstance(self._inner, _native.ChunkedArray):
            return pyarrow.chunked_array(self._inner)
        return pyarrow.array(self._inner)

    def to_numpy(self) -> Any:
        """The column as `numpy.ndarray`: of numbers without a copy; with nulls, a masked array of numbers.

        Text, bytes and lists become objects.
        """
        import numpy

        if _native.null_count(self._inner) and _native.is_integer(self._inner):
            kind, rows, nulls, buffers, _ = _native.to_buffers(self._inner)
            is_valid = numpy.unpackbits(numpy.frombuffer(nulls, "u1"), count=rows, bitorder="little")
            return numpy.ma.MaskedArray(numpy.frombuffer(buffers[0], kind.lower()), is_valid == 0)
        return numpy.asarray(self)

    def to_polars(self) -> Any:
        """The column as `polars.Series`."""
        import polars

        return polars.Series(_Capsule(self._inner))

    def to_pandas(self) -> Any:
        """The column as `pandas.Series`: integers in a type with nulls (`UInt64`), others in Arrow memory.

        Needs pyarrow.
        """
        import pandas

        return pandas.Series(_pandas_values(self._inner))

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[row]) for row in range(min(len(self), 6)))
        more = ", …" if len(self) > 6 else ""
        return f"<hashlane.Array of {len(self)} rows: [{shown}{more}]>"


def _unpickled(parts: Any) -> Array:
    return Array(_native.from_buffers(parts))


class _Capsule:
    """The stream of a result, for libraries that would ask a sequence for its items."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Union[_native.Array, _native.ChunkedArray]) -> None:
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return _native.chunked(self._inner).__arrow_c_stream__(requested_schema)


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
    """A column or table as the native functions read it: one of pandas as an Arrow array or table."""
    if _library(column) != "pandas":
        return column
    import pyarrow

    if hasattr(column, "columns"):
        return pyarrow.Table.from_pandas(column, preserve_index=False)
    return pyarrow.array(column, from_pandas=True)


def _pandas_values(result: Union[_native.Array, _native.ChunkedArray]) -> Any:
    import pandas
    import pyarrow

    column = pyarrow.chunked_array(_native.chunked(result))
    # Arrow memory of pandas has no `%`, which hashes are made for.
    kinds = {"uint64": pandas.UInt64Dtype, "uint32": pandas.UInt32Dtype, "int64": pandas.Int64Dtype}
    numbers = kinds.get(str(column.type))
    return numbers().__from_arrow__(column) if numbers else pandas.arrays.ArrowExtensionArray(column)


def like(
    result: Union[_native.Array, _native.ChunkedArray], source: Any, *, signed: bool = False
) -> Any:
    """A result in the form of the column that it was computed from.

    pyarrow, Polars and pandas get their own types, a Series with the index of `source`; NumPy gets an array
    if the values are numbers; everything else gets an :class:`Array`. With `signed`, unsigned integers become
    `int64`.
    """
    if signed:
        result = _native.signed(result)
    library = _library(source)
    if library == "pyarrow":
        import pyarrow

        if isinstance(result, _native.ChunkedArray):
            return pyarrow.chunked_array(result)
        return pyarrow.array(result)
    if library == "polars":
        import polars

        return polars.Series(_Capsule(result)).alias(getattr(source, "name", ""))
    if library == "pandas":
        import pandas

        values = _pandas_values(result)
        if isinstance(source, pandas.Index):
            return pandas.Index(values, name=source.name)
        return pandas.Series(values, index=source.index, name=getattr(source, "name", None))
    if library == "numpy" and _native.is_numeric(result):
        import numpy

        return numpy.asarray(result.__array__())
    return Array(result)


def numpy_words(result: Union[_native.Array, _native.ChunkedArray], source: Any) -> Any:
    """Hashes of 128 bits as a matrix of two `uint64` a row, if `source` is of NumPy and none is null."""
    if _library(source) != "numpy" or _native.null_count(result):
        return None
    import numpy

    return numpy.asarray(_native.words(result).__array__()).reshape(-1, 2)


def _library(column: Any) -> str:
    return type(column).__module__.partition(".")[0]
