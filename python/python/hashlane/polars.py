"""Expressions of Polars: `pl.col("name").hashlane.hash("siphash-1-3", key)`.

Importing this module, or `hashlane` after `polars`, gives each expression the namespace `hashlane`. The work is
done by the library of this wheel, which Polars loads as a plugin: without Python's lock, without a copy of the
columns, in eager and lazy queries and in the streaming engine. Results equal those of the functions of
`hashlane`.

The interface of plugins is tested with the versions of Polars that docs/python.md names.
"""

from __future__ import annotations

import hashlib
from typing import Any, Optional, Union

import polars as pl

from . import _native
from ._name_map import NameMap
from ._names import Errors, name_prefix_hashes
from ._sketch import Distinct, HeavyHitters, Spread

if tuple(int(part) for part in pl.__version__.split(".")[:2]) < (1, 36):
    raise ImportError(
        f"expressions need Polars 1.36 or newer, found {pl.__version__}: pip install --upgrade polars"
    )
from polars.plugins import register_plugin_function  # noqa: E402

__all__ = ["Expressions"]

#: An expression, or the name of a column.
Expression = Union["pl.Expr", str]


def _packed(*arguments: Union[str, bytes, int, None]) -> dict[str, bytes]:
    """The arguments as `plugin/arguments.rs` reads them."""
    parts = []
    for argument in arguments:
        if argument is None:
            parts.append(b"\xff\xff\xff\xff")
            continue
        if isinstance(argument, int):
            argument = int(argument).to_bytes(8, "little")
        elif isinstance(argument, str):
            argument = argument.encode()
        if len(argument) >= 0xFFFFFFFF:
            raise ValueError(f"an argument of {len(argument):,} bytes; at most 4 GiB")
        parts.append(len(argument).to_bytes(4, "little") + bytes(argument))
    return {"arguments": b"".join(parts)}


def _key(key: Optional[bytes]) -> Optional[bytes]:
    return None if key is None else bytes(key)


def _expressions(columns: tuple[Expression, ...]) -> list[Any]:
    return [pl.col(column) if isinstance(column, str) else column for column in columns]


class Expressions:
    """The namespace `hashlane` of an expression.

    Errors about arguments are raised when the expression is made, errors about rows by the query, as
    `polars.exceptions.ComputeError`.
    """

    __slots__ = ("_expr",)

    def __init__(self, expr: Any) -> None:
        self._expr = expr

    def _by_row(self, function: str, columns: tuple[Expression, ...], *arguments: Any) -> Any:
        return register_plugin_function(
            plugin_path=_native.__file__,
            function_name=f"hashlane_{function}",
            args=[self._expr, *_expressions(columns)],
            kwargs=_packed(*arguments),
            is_elementwise=True,
        )

    def _aggregation(self, function: str, *arguments: Any) -> Any:
        return register_plugin_function(
            plugin_path=_native.__file__,
            function_name=f"hashlane_{function}",
            args=[self._expr],
            kwargs=_packed(*arguments),
            returns_scalar=True,
        )

    def hash(self, scheme: str, key: Optional[bytes] = None, *, signed: bool = False) -> Any:
        """Hash of each row: :func:`hashlane.hash`."""
        _native.hash([], scheme, key)
        return self._by_row("hash", (), int(signed), scheme, _key(key))

    def flow_hash(
        self,
        sport: Expression,
        dst: Expression,
        dport: Expression,
        scheme: str,
        key: Optional[bytes] = None,
        *,
        signed: bool = False,
    ) -> Any:
        """Hash of the two ends of each packet, with its source address here: :func:`hashlane.flow_hash`."""
        _native.flow_hash([], [], [], [], scheme, key)
        return self._by_row("flow_hash", (sport, dst, dport), int(signed), scheme, _key(key))

    def rss(
        self,
        sport: Expression,
        dst: Expression,
        dport: Expression,
        key: bytes,
        queues: Optional[int] = None,
        *,
        signed: bool = False,
    ) -> Any:
        """Hash or queue of a network card, with the source address here: :func:`hashlane.rss`."""
        _native.rss_hash([], [], [], [], key, queues)
        return self._by_row("rss", (sport, dst, dport), int(signed), _key(key), queues)

    def ehash(
        self,
        lport: Expression,
        foreign: Expression,
        fport: Expression,
        *,
        function: str = "lport",
        ehash_secret: int,
        ipv6_secret: int = 0,
        mix: int = 0,
        key: Optional[bytes] = None,
        signed: bool = False,
    ) -> Any:
        """Hash of Linux' table of connections, with the local address here: :func:`hashlane.ehash`."""
        secrets = (ehash_secret, ipv6_secret, mix)
        _native.linux_ehash([], [], [], [], function, *secrets, key)
        columns = (lport, foreign, fport)
        return self._by_row("ehash", columns, int(signed), function, *secrets, _key(key))

    def prefix_hashes(
        self,
        encoding: str = "ndn",
        scheme: str = "siphash-1-3",
        key: Optional[bytes] = None,
        *,
        errors: Errors = "raise",
        signed: bool = False,
    ) -> Any:
        """Hashes of all prefixes of each name: :func:`hashlane.name_prefix_hashes`."""
        name_prefix_hashes([], encoding, scheme, key, errors=errors)
        return self._by_row("prefix_hashes", (), int(signed), encoding, scheme, _key(key), errors)

    def name_match(self, map: NameMap, *, errors: Errors = "raise") -> Any:
        """Lists that each domain name matches, a bit for each: :meth:`hashlane.NameMap.match`.

        The expression holds the bytes of the map.
        """
        map.match([], errors=errors)
        data = map.to_bytes()
        return self._by_row("name_match", (), errors, hashlib.blake2b(data, digest_size=16).digest(), data)

    def distinct(self, *, precision: int = 14, key: bytes) -> Any:
        """Number of distinct keys, estimated: `keys` of :class:`hashlane.Distinct`, as `Float64`."""
        Distinct(precision=precision, key=key)
        return self._aggregation("distinct", precision, _key(key))

    def spread(
        self,
        scheme: str,
        buckets: int,
        key: Optional[bytes] = None,
        *,
        reduction: str = "remainder",
    ) -> Any:
        """Keys of each bucket: the fields of :class:`hashlane.SpreadResult` but `loads`, as a struct."""
        Spread(scheme, buckets, key, reduction=reduction)
        return self._aggregation("spread", scheme, buckets, _key(key), reduction)

    def heavy(self, counters: int) -> Any:
        """Keys with the largest weights: the fields of :class:`hashlane.HeavyHittersResult`, as a struct."""
        HeavyHitters(counters)
        return self._aggregation("heavy", counters)


if not hasattr(pl.Expr, "hashlane"):
    pl.api.register_expr_namespace("hashlane")(Expressions)
