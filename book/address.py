"""Write the repository's address, which _config.yml holds, into every chapter.

The first code cell of a chapter installs the package where it is missing, as in Colab.
With --check nothing is written: the exit code says whether all chapters agree.
"""

import json
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
TAGS = ["setup", "remove-cell"]  # a page needs no installation; a notebook shows it


def address() -> str:
    """The repository's address."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]["url"]


def setup_cell() -> str:
    """The source of the first code cell."""
    return f"""\
# Colab and other fresh machines: install the package that this book builds.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("annotated_transformer") is None:
    package = "git+{address()}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, package], check=True)
    importlib.invalidate_caches()"""


def with_setup(text: str) -> str:
    """A notebook's text with the right first code cell."""
    notebook = json.loads(text)
    cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    if cell["metadata"].get("tags") != TAGS:
        raise ValueError(f"the first code cell must have the tags {TAGS}")
    cell["source"] = setup_cell().splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    stale = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        try:
            wanted = with_setup(text)
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
        if json.loads(wanted) != json.loads(text):
            stale.append(path)
            if "--check" not in sys.argv:
                path.write_text(wanted, encoding="utf-8", newline="\n")
    for path in stale:
        print(f"{path.name}: {'stale' if '--check' in sys.argv else 'written'}")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
