from __future__ import annotations

import http.server
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from bytes_of_one_process import compare
from flows import KEY
from pyarrow import fs

from hashlane import distributed


@pytest.fixture
def store(s3: str) -> Any:
    names = {"access_key": "hashlane", "secret_key": "secret", "region": "us-east-1"}
    return fs.S3FileSystem(endpoint_override=s3, allow_bucket_creation=True, **names)


@pytest.fixture
def bucket(store: Any, files: pathlib.Path) -> Any:
    store.create_dir("bucket/folder/day=1")
    for path in sorted(files.iterdir()):
        with store.open_output_stream(f"bucket/folder/{path.name}") as stream:
            stream.write(path.read_bytes())
    with store.open_output_stream("bucket/folder/notes.txt") as stream:
        stream.write(b"not read in a folder")
    return store


def test_every_engine_reads_s3(bucket: Any, files: pathlib.Path, engine: str) -> None:
    whole = distributed.distinct(files, "name", KEY).to_bytes()
    found = distributed.distinct("s3://bucket/folder/*.parquet", "name", KEY, engine=engine, workers=2)
    assert found.to_bytes() == whole
    found = distributed.distinct("bucket/folder", "name", KEY, engine=engine, workers=2, filesystem=bucket)
    assert found.to_bytes() == whole


def test_patterns_folders_and_lists_of_s3(bucket: Any) -> None:
    compare("s3://bucket/folder/")
    pattern = distributed.distinct("s3://bucket/**/flows-?.parquet", "name", KEY)
    paths = [f"s3://bucket/folder/flows-{number}.parquet" for number in range(5)]
    assert distributed.distinct(paths, "name", KEY).to_bytes() == pattern.to_bytes()
    with pytest.raises(ValueError, match="here.parquet: not on S3 like s3://bucket/folder"):
        distributed.spread(["here.parquet", "s3://bucket/folder"], "name", "crc32c")


def test_folders_of_table_formats_on_s3_are_refused(bucket: Any, store: Any) -> None:
    with store.open_output_stream("bucket/folder/_delta_log/00000000000000000000.json") as stream:
        stream.write(b"{}")
    for end in ["", "/", "/*.parquet", "/**/*.parquet"]:
        if end.endswith("parquet"):
            with pytest.raises(ValueError, match="table of Delta, whose files also hold deleted rows"):
                distributed.distinct(f"s3://bucket/folder{end}", "name", KEY)
        with pytest.raises(ValueError, match="table of Delta"):
            distributed.distinct(f"bucket/folder{end}", "name", KEY, filesystem=store)
    distributed.distinct("s3://bucket/folder/flows-1.parquet", "name", KEY)


def test_errors_of_s3_have_one_line_with_the_next_step(bucket: Any, store: Any) -> None:
    def error(source: str, columns: Any = "name", **options: Any) -> str:
        with pytest.raises((OSError, ValueError)) as raised:
            distributed.spread(source, columns, "siphash-1-3", KEY, **options)
        assert "\n" not in str(raised.value)
        return f"{raised.type.__name__}: {raised.value}"

    for source in ["s3://nowhere/folder/*.parquet", "s3://nowhere/a.parquet", "s3://nowhere"]:
        assert error(source).startswith(f"FileNotFoundError: {source}: no such bucket; check its name")
    assert "nowhere/*.csv: no such bucket" in error("nowhere/*.csv", filesystem=store)
    for source in ["s3://bucket/none/*.parquet", "s3://bucket/folder/none.parquet", "s3://bucket/none"]:
        assert error(source).startswith(f"FileNotFoundError: {source}: no file; give a path")
    assert "flows-0.parquet: row 0: src " in error(
        "s3://bucket/folder/flows-0.parquet", ["name", "sport", "dst", "dport"]
    )
    with bucket.open_output_stream("bucket/broken/a.parquet") as stream:
        stream.write(b"PAR1 and no more")
    assert "s3://bucket/broken/a.parquet: " in error("s3://bucket/broken")


class Refuses(http.server.BaseHTTPRequestHandler):
    """Answers of S3 to requests without a signature."""

    def do_HEAD(self) -> None:
        self.send_response(200 if "Authorization" in self.headers else 403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def refuses(monkeypatch: pytest.MonkeyPatch, s3: str, tmp_path: pathlib.Path) -> Iterator[None]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]:
            monkeypatch.delenv(name)
        for name in ["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"]:
            monkeypatch.setenv(name, str(tmp_path / "none"))
        yield
        server.shutdown()
        thread.join()


def test_a_lack_of_credentials_is_an_error_with_the_next_step(refuses: None) -> None:
    with pytest.raises(PermissionError, match="s3://bucket/a.parquet: access denied; set AWS_ACCESS_KEY_ID"):
        distributed.spread("s3://bucket/a.parquet", "name", "crc32c")
