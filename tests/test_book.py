"""The chapters as files: what every notebook of the book has, and has not."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, kind: str) -> list[dict]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    found = [cell for cell in notebook["cells"] if cell["cell_type"] == kind]
    for cell in found:
        cell["source"] = "".join(cell["source"])
    return found


def contents() -> list[str]:
    """All files that the table of contents names."""
    toc = yaml.safe_load((ROOT / "book/_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    return [toc["root"], *(chapter["file"] for chapter in chapters)]


def test_the_table_of_contents_names_each_notebook_once_and_no_other():
    listed = [name for name in contents() if name.startswith("notebooks/")]
    assert listed == [f"notebooks/{path.stem}" for path in NOTEBOOKS]
    for name in contents():
        assert any((ROOT / f"{name}{end}").exists() for end in (".md", ".ipynb")), name


@every_notebook
def test_a_notebook_is_saved_without_outputs(path):
    for cell in cells(path, "code"):
        assert cell["outputs"] == [] and cell["execution_count"] is None


@every_notebook
def test_a_cell_is_saved_line_by_line_so_that_a_change_can_be_read(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert cell["source"] == "".join(cell["source"]).splitlines(keepends=True)


@every_notebook
def test_a_notebook_runs_on_any_python_3(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def test_first_cells_install_from_the_address_in_the_configuration():
    command = [sys.executable, str(ROOT / "book/address.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@every_notebook
def test_cells_are_plain_python(path):
    for cell in cells(path, "code"):
        ast.parse(cell["source"])  # a magic or a shell line would not parse


@every_notebook
def test_only_the_first_cell_is_hidden_on_the_page(path):
    hiding = {"remove-cell", "hide-cell", "remove-input", "hide-input"}
    for cell in cells(path, "code")[1:]:
        assert not hiding & set(cell["metadata"].get("tags", []))


@every_notebook
def test_nothing_that_is_shown_is_defined_again(path):
    defined, shown = set(), set()
    for cell in cells(path, "code"):
        tree = ast.parse(cell["source"])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.add(node.name)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show":
                shown.add(ast.unparse(node.args[0]).split(".")[-1])
    assert shown, "a chapter shows the package's own source"
    assert not shown & defined


@every_notebook
def test_a_cell_that_ends_in_a_picture_has_a_text_alternative(path):
    for cell in cells(path, "code"):
        body = ast.parse(cell["source"]).body
        last = ast.unparse(body[-1]) if body else ""
        if re.match(r"(plots|explore)\.\w+\(", last):
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 30, cell["source"]


@every_notebook
def test_a_chapter_has_its_sections(path):
    text = "\n".join(cell["source"] for cell in cells(path, "markdown"))
    assert text.startswith("# ")
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings[-2:] == ["Try", "Read on"], headings
    assert "{cite}" in text.split("## Read on")[1]


def test_citations_are_in_the_bibliography_and_each_entry_is_cited():
    keys = set(
        re.findall(
            r"^@\w+\{(\w+),", (ROOT / "book/references.bib").read_text("utf-8"), re.M
        )
    )
    texts = [path.read_text("utf-8") for path in (ROOT / "book").glob("*.md")]
    texts += [path.read_text("utf-8") for path in NOTEBOOKS]
    cited = {
        key.strip()
        for text in texts
        for group in re.findall(r"\{cite\}`([^`]*)`", text)
        for key in group.split(",")
    }
    assert cited == keys


def test_no_page_claims_what_prose_can_not_prove():
    words = re.compile(
        r"\b(simply|obviously|just|cutting-edge|state-of-the-art)\b", re.I
    )
    for path in NOTEBOOKS:
        for cell in cells(path, "markdown"):
            assert not words.search(cell["source"]), (path.name, cell["source"][:200])
