"""Serve the built book, and build it again whenever a source of it changes."""

import subprocess
import sys
from pathlib import Path

from livereload import Server

ROOT = Path(__file__).parent.parent
WATCHED = [
    "notebooks/*.ipynb",
    "book/*",
    "book/_static/*",
    "annotated_transformer/*.py",
]


def build() -> None:
    subprocess.run(["make", "book"], cwd=ROOT, check=False)


server = Server()
for pattern in WATCHED:
    server.watch(str(ROOT / pattern), build)
build()
server.serve(root=str(ROOT / "_build/html"), port=8000, host="127.0.0.1")
sys.exit(0)
