"""Sketches of groups of rows."""

from __future__ import annotations

from typing import Any, Optional

from . import _native
from ._arrays import Column, Table
from ._sketch import (
    Columns,
    Distinct,
    HeavyHitters,
    Imbalance,
    Sketch,
    Spread,
    named_columns,
    optional,
    size,
)


class Groups(Sketch):
    """A sketch for each group of rows: distinct keys by user, spread by interface, heavy hitters by customer.

    Groups begin empty and grow with their keys: 100,000 groups of 10 keys each take less than 30 MB. Their
    map has its own random key.

    Args:
        sketch: A new `Distinct`, `Spread`, `Imbalance` or `HeavyHitters`, whose arguments all groups have.
        most: Most groups, 1 to 2²⁶. An update that needs more raises `ValueError` and changes nothing.

    Raises:
        TypeError: `sketch` is no sketch.
        ValueError: The sketch has keys or is of another kind, or the limit is out of range.
    """

    __slots__ = ("_names",)
    _kind = "Groups"
    _names: list[str]

    def __init__(self, sketch: Sketch, *, most: int = 1 << 20) -> None:
        if not isinstance(sketch, Sketch):
            raise TypeError(f"expected a sketch that groups begin with, got {type(sketch).__name__}")
        self._inner = _native.sketch_groups(sketch._inner, size("most", most, 1, 1 << 26))
        self._key = sketch._key
        self._names = []

    @classmethod
    def from_bytes(cls, data: bytes, key: Optional[bytes] = None) -> Groups:
        """The groups of these bytes, as :meth:`Sketch.from_bytes`. The bytes hold no names of columns.

        Groups of `Spread` and `Imbalance` may take 1 GiB, or 128 bytes for each byte if that is more. Bytes
        that would take more raise `ValueError`.
        """
        groups = super().from_bytes(data, key)
        groups._names = []
        return groups

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (_named_groups, (self.to_bytes(), self._key, self._names))

    def __len__(self) -> int:
        """Number of groups."""
        return self._inner.group_count()

    def update(
        self,
        by: Columns,
        *columns: Columns,
        weights: Optional[Column] = None,
        packets: Optional[Column] = None,
        bytes: Optional[Column] = None,
    ) -> None:
        """Add each row of a batch to the sketch of its group.

        Args:
            by: Columns that name the groups, of text, bytes, integers, booleans, lists or structs; a null is a
                group, too.
            columns, weights, packets, bytes: As the sketch's `update` takes them. A row that is null in them
                is left out.

        Raises:
            TypeError: A column is of another type.
            ValueError: As the sketch's `update`; there would be more than `most` groups; or the totals of all
                groups together would pass 2⁶³ − 1.
        """
        if weights is not None and packets is not None:
            raise ValueError("weights are of HeavyHitters, packets of Imbalance: pass one of them")
        keys = [column for each in columns for _, column in named_columns("key", each)]
        number = weights if packets is None else packets
        names = self._inner.update_groups(named_columns("group", by), keys, optional(number), optional(bytes))
        self._names = self._names or names

    def sketch(self, by: Columns) -> Sketch:
        """The sketch of one group, a copy.

        Args:
            by: Columns as of `update`, of one row.

        Raises:
            KeyError: There is no such group.
        """
        inner = self._inner.group([column for _, column in named_columns("group", by)])
        if inner is None:
            raise KeyError("no such group; its columns need the types of the update")
        of: list[type[Sketch]] = [Distinct, Spread, Imbalance, HeavyHitters]
        kind = next(kind for kind in of if kind._kind == inner.kind())
        sketch = kind.__new__(kind)
        sketch._inner, sketch._key = inner, self._key
        return sketch

    def result(self) -> Table:
        """The results of all groups, in the order of the groups' values.

        A row for each group: its columns, then `keys` and `standard_error` of `Distinct`; `keys`,
        `chi_squared`, `p_value`, `longest`, `longest_median` and `longest_limit` of `Spread`; `packets`,
        `bytes`, `imbalance`, `imbalance_bytes`, `best` and `best_imbalance` of `Imbalance`. Of `HeavyHitters`
        a row for each key of a group, the heaviest first: `key`, `least`, `error` and `total`.
        """
        return Table(self._inner.group_results(self._names or ["group"]))


def _named_groups(data: bytes, key: Optional[bytes], names: list[str]) -> Groups:
    groups = Groups.from_bytes(data, key)
    groups._names = names
    return groups
