"""Audits a hash table in a shared object from Python.

    python3 audit_table.py ./libflow.so                   runs `hashlane audit --table`
    python3 audit_table.py ./libflow.so --keys keys.txt   a regression test without hashlane: inserts the keys
                                                          of `hashlane audit --write-keys keys.txt` by ctypes

The shared object has the functions of hashlane_audit.h. The exit status is 0 if no keys flood the table, 1 if
some do, and 2 if the audit or the table fails. The environment variable HASHLANE names the command, if it is
not on PATH.
"""

import argparse
import ctypes
import json
import os
import random
import subprocess
import sys

# Times as many entries compared as with random keys: then the table is flooded.
CRITERION = 4


def fail(why):
    """Ends the program."""
    print(why, file=sys.stderr)
    sys.exit(2)


class Table:
    """A table of a shared object."""

    def __init__(self, path, seed):
        self.library = ctypes.CDLL(os.path.abspath(path))
        handle, key = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_size_t)
        self._declare("abi", ctypes.c_uint32)
        self._declare("init", handle, ctypes.c_char_p, ctypes.c_size_t)
        self._declare("insert", ctypes.c_int, handle, *key)
        self._declare("find", ctypes.c_int, handle, *key)
        self._declare("len", ctypes.c_size_t, handle)
        self._declare("compared", ctypes.c_uint64, handle)
        self._declare("free", None, handle)
        if self._call("abi") != 1:
            fail(f"{path}: built with another version of hashlane_audit.h")
        self.table = self._call("init", seed, 0)

    def _declare(self, name, result, *arguments):
        function = getattr(self.library, f"hashlane_audit_{name}")
        function.restype, function.argtypes = result, arguments

    def _call(self, name, *arguments):
        return getattr(self.library, f"hashlane_audit_{name}")(*arguments)

    def insert(self, key):
        return self._call("insert", self.table, key, len(key)) == 0

    def __contains__(self, key):
        return self._call("find", self.table, key, len(key)) == 1

    def __len__(self):
        return self._call("len", self.table)

    def compared(self):
        return self._call("compared", self.table)

    def close(self):
        self._call("free", self.table)


def lookups_compared(path, keys):
    """Entries compared by one lookup of each key in a full table."""
    table = Table(path, os.urandom(16))
    for key in keys:
        if not table.insert(key):
            fail(f"{path}: refuses the key {key.hex()}")
    before = table.compared()
    missing = [key for key in keys if key not in table]
    if missing or len(table) != len(set(keys)):
        fail(f"{path}: {len(missing)} keys are missing, {len(table)} are there")
    compared = table.compared() - before
    table.close()
    return compared


def regression(path, keys_file):
    """Compares the keys of a file with as many random ones."""
    with open(keys_file, encoding="ascii") as lines:
        keys = [bytes.fromhex(line) for line in lines if not line.startswith("#")]
    if not keys:
        fail(f"{keys_file}: no keys")
    hostile = lookups_compared(path, keys)
    other = lookups_compared(path, [random.randbytes(len(key)) for key in keys])
    flooded = hostile >= CRITERION * other
    print(f"{len(keys)} keys: {hostile} entries compared, {other} with random keys: "
          f"{'floodable' if flooded else 'not flooded'}")
    return 1 if flooded else 0


def audit(path):
    """Runs the audit, with all its attacks."""
    command = [os.environ.get("HASHLANE", "hashlane"), "audit", "--table", path, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.stdout:
        print(json.dumps(json.loads(done.stdout), indent=2))
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description="Audit a hash table in a shared object")
    parser.add_argument("library", help="shared object with the functions of hashlane_audit.h")
    parser.add_argument("--keys", metavar="FILE", help="keys in hexadecimal, a line each")
    arguments = parser.parse_args()
    try:
        if arguments.keys:
            return regression(arguments.library, arguments.keys)
        return audit(arguments.library)
    # No such file or command, no such function of the library, no hexadecimal digits.
    except (OSError, AttributeError, ValueError) as error:
        return fail(error)


if __name__ == "__main__":
    sys.exit(main())
