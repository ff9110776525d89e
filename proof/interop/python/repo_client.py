"""A client of a repository: it stores an object, or fetches the one that it has stored before."""

import hashlib
import os
import sys
import tempfile

from ndn.app import NDNApp
from ndn.encoding import Name
from ndn_python_repo.clients import GetfileClient, PutfileClient

SEGMENT, SEGMENTS = 3000, 100
CONTENT = hashlib.shake_256(b"object").digest(SEGMENT * SEGMENTS - 1)

app = NDNApp()
step, prefix = sys.argv[1:]
repo, name = Name.from_str(f"{prefix}/repo"), Name.from_str(f"{prefix}/object")


async def main():
    if step == "store":
        with open("object", "wb") as file:
            file.write(CONTENT)
        client = PutfileClient(app, Name.from_str(f"{prefix}/client"), repo)
        stored = await client.insert_file("object", name, SEGMENT, 10_000, 1, register_prefix=name)
        assert stored == SEGMENTS, f"{stored} of {SEGMENTS} segments stored"
    else:
        await GetfileClient(app, repo).fetch_file(name, "fetched", True)
        with open("fetched", "rb") as file:
            assert file.read() == CONTENT, "the object is not as it was"
    print(f"{SEGMENTS} segments")
    app.shutdown()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    app.run_forever(after_start=main())
