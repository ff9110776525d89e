"""Lists of domain names, and the rules that the names of a column match."""

from __future__ import annotations

import os
from typing import Any, Literal, Mapping, NamedTuple, Optional, Union

from . import _native
from ._arrays import Column, like, readable
from ._names import Errors


class NameList(NamedTuple):
    """A list of a :class:`NameMap`."""

    #: Its name.
    name: str
    #: Its format: `hosts`, `domains`, `adblock`, `v2ray`, `rpz`, `psl` or `dnsmasq`.
    format: str
    #: Number of rules, without exceptions.
    rules: int
    #: Number of exceptions.
    exceptions: int
    #: Number of entries that are no rules on names, such as paths of a web address.
    refused: int


class NameMap:
    """Rules of lists of domain names, and which of them each name of a column matches.

    Formats of lists: hosts files, plain domains with `*.`, Adblock's `||name^`, V2Ray's `domain:` and `full:`,
    response policy zones, the public suffix list and options of dnsmasq. Exact: names are compared, not their
    hashes. An exception holds for its own list; in response policy zones, the closest name decides, as
    wildcards of the DNS do.

    Args:
        lists: For each list, by its name, a file, or a column with a line of it in each row. At most 64.
        format: Format of all lists; detected for each by default.
        plain: Names that a plain domain of a list covers: `exact` the name alone, `subtree` those below it,
            too.

    Raises:
        ValueError: A list has no known format, or a line of more than 64 KiB; there are too many lists.
        OSError: A file cannot be read.
    """

    __slots__ = ("_inner",)
    _inner: _native.NameMap

    def __init__(
        self,
        lists: Mapping[str, Union[str, os.PathLike[str], Column]],
        *,
        format: Optional[Literal["hosts", "domains", "adblock", "v2ray", "rpz", "psl", "dnsmasq"]] = None,
        plain: Literal["exact", "subtree"] = "exact",
    ) -> None:
        sources = [(name, _source(source)) for name, source in lists.items()]
        self._inner = _native.name_map_build(sources, format, plain)

    @classmethod
    def from_bytes(cls, data: bytes) -> NameMap:
        """The rules of :meth:`to_bytes`, or of a file that `hashlane names compile` wrote.

        Raises:
            ValueError: The bytes were cut or changed, or are of another version.
        """
        map = cls.__new__(cls)
        map._inner = _native.name_map_read(bytes(data))
        return map

    def to_bytes(self) -> bytes:
        """These rules as bytes, with their lists. They contain the secret key of the hash."""
        return self._inner.to_bytes()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return (type(self).from_bytes, (self.to_bytes(),))

    @property
    def lists(self) -> list[NameList]:
        """The lists, in the order of their bits in :meth:`match`."""
        return [NameList(*list) for list in self._inner.lists()]

    @property
    def memory(self) -> int:
        """Bytes of memory of the table."""
        return self._inner.memory()

    def __len__(self) -> int:
        """Number of names that have rules."""
        return len(self._inner)

    def __repr__(self) -> str:
        return f"<hashlane.NameMap: {len(self)} names in {len(self.lists)} lists>"

    def match(self, names: Column, *, errors: Errors = "raise") -> Any:
        """Look up which lists match each name.

        Args:
            names: Column of n names as text, in any case, with or without a dot at the end.
            errors: `null` gives a null for each row that is no name.

        Returns:
            Column of n `uint64`: the lowest bit is the first list; 0 for a name that matches nothing.

        Raises:
            ValueError: A row is no name: an empty label, a label above 63 bytes, a name above 253.
        """
        return like(self._inner.match(readable(names), errors), names)

    def longest(self, names: Column, *, errors: Errors = "raise") -> Any:
        """Look up the longest rule that each name matches, of the first list that has it.

        Args:
            names: As for :meth:`match`.
            errors: As for :meth:`match`.

        Returns:
            Column of n structs: `list`, `rule` (the name of the rule) and `target` (`exact`, `subtree` or
            `below`); null for a name that matches nothing.

        Raises:
            ValueError: As for :meth:`match`.
        """
        return like(self._inner.longest(readable(names), errors), names)


def _source(source: Union[str, os.PathLike[str], Column]) -> object:
    """A path as it is, a column as the native part takes it."""
    return source if isinstance(source, (str, os.PathLike)) else readable(source)
