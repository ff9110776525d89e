"""The work on rows: a sketch of some columns."""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence, Union

from .._names import parse_name
from ._iceberg import Scan


class Job(NamedTuple):
    """A sketch and the columns that it takes, as it is sent to workers, with the key."""

    kind: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    columns: list[str]
    #: Arguments of updates by name, and their columns.
    loads: dict[str, str] = {}
    #: Columns that name the groups.
    by: list[str] = []
    #: The columns are a row that is one key.
    is_row: bool = False
    #: Encoding of names that are text.
    encoding: Optional[str] = None
    #: Types of the columns in the first file.
    types: Any = None
    #: Path of the first file.
    first: str = ""
    #: File system of pyarrow; None is the local one.
    filesystem: Any = None
    #: Scan of the Iceberg table that the files belong to.
    scan: Optional[Scan] = None

    def sketch(self) -> Any:
        """An empty sketch."""
        return self.kind(*self.arguments, **self.options)

    def needed(self) -> list[str]:
        """Names of all columns, each once."""
        return list(dict.fromkeys([*self.by, *self.columns, *self.loads.values()]))

    def update(self, sketch: Any, batch: Any) -> None:
        """Add the rows of a batch to a sketch."""
        import pyarrow

        columns: list[Any] = [batch.column(name) for name in self.columns]
        if self.encoding and _is_text(pyarrow, columns[0].type):
            columns = [parse_name(columns[0], self.encoding)]
        if self.is_row:
            columns = [tuple(columns)]
        if self.by:
            columns.insert(0, {name: batch.column(name) for name in self.by})
        sketch.update(*columns, **{name: batch.column(column) for name, column in self.loads.items()})


def column_names(columns: Union[str, Sequence[str]]) -> list[str]:
    """The names of one column of keys, or of the four of a flow."""
    names = names_of("columns", columns)
    if len(names) not in (1, 4):
        raise ValueError(f"columns {names}; expected one name, or four: src, sport, dst, dport")
    return names


def names_of(argument: str, columns: Union[str, Sequence[str]]) -> list[str]:
    """The names of one column or more."""
    if not isinstance(columns, Iterable) or isinstance(columns, bytes):
        raise TypeError(f"{argument} is {columns!r}; expected the name of a column, or a list of names")
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument} {names}; expected names of columns")
    return names


def _is_text(pyarrow: Any, kind: Any) -> bool:
    kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
    return kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())
