"""Errors of files: the same under each engine."""

from __future__ import annotations

import re

#: Kinds of errors that a file or a row can have, the narrower ones first.
KINDS = (FileNotFoundError, PermissionError, OSError, MemoryError, TypeError, ValueError)

NO_BUCKET = "no such bucket; check its name, AWS_REGION and AWS_ENDPOINT_URL"

#: Parts of the messages of S3, and the error and the next step.
_S3: list[tuple[str, type[Exception], str]] = [
    (r"NO_SUCH_BUCKET|Bucket '.*' not found", FileNotFoundError, NO_BUCKET),
    (
        r"AWS Error (ACCESS_DENIED|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID|SIGNATURE_DOES_NOT_MATCH)"
        r"|HTTP status 40[13]",
        PermissionError,
        "access denied; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY here and on all workers, or pass "
        "filesystem=pyarrow.fs.S3FileSystem(...)",
    ),
    (
        r"AWS Error NETWORK_CONNECTION",
        OSError,
        "no answer of S3; check AWS_ENDPOINT_URL, AWS_REGION and the network",
    ),
]

#: The message of pyarrow about a file without a schema.
_UNREAD = re.compile(
    r"Error creating dataset\. Could not read schema from .*?"
    r": Could not open (?P<format>\w+) input source '.*?': (?:Invalid: )?(?P<cause>.+)"
)


def about(path: str, error: BaseException, first: int = 0) -> Exception:
    """The error with the file that it is about, and the row in the file in place of that in a batch.

    Args:
        first: Number of the first row of the batch in the file.
    """
    text = " ".join(str(error).split())
    row = re.match(r"row (\d+)(?=: )", text)
    if row is not None:
        return ValueError(f"{path}: row {int(row[1]) + first}{text[row.end():]}")
    for pattern, other, next_step in _S3 if "AWS" in text or path.startswith("s3://") else ():
        if re.search(pattern, text):
            return other(f"{path}: {next_step}")
    kind: type[Exception] = next((kind for kind in KINDS if isinstance(error, kind)), ValueError)
    unread = _UNREAD.match(text)
    if unread is not None:
        cause = unread["cause"].partition(". Either ")[0]
        return kind(f"{path}: damaged, or no {unread['format']} file: {cause}; replace it or leave it out")
    return kind(text if path in text else f"{path}: {text}")


def to_bytes(error: Exception) -> bytes:
    """The error as an answer of a worker."""
    kind = next((kind for kind in KINDS if isinstance(error, kind)), ValueError)
    return f"{kind.__name__}\n{error}".encode(errors="replace")


def from_bytes(data: bytes) -> Exception:
    """The error of an answer."""
    name, _, text = data.decode().partition("\n")
    kind: type[Exception] = next((kind for kind in KINDS if kind.__name__ == name), ValueError)
    return kind(text)
