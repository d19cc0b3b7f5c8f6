"""The repository as a whole: layout, imports, versions, and the wheel that it makes."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "annotated_transformer"

# The way of the data. What stands later may import what stands earlier, never back.
ORDER = """
    config text_files download corpus lexicon syntax english german grammar tokenizer
    batching attention multi_head embedding positions layers model loss schedule
    training checkpoint search bleu translate show plots view explore doctor cli
    __main__
""".split()

TOP_LEVEL = {
    *("annotated_transformer", "book", "notebooks", "tests", ".ci", ".gitignore"),
    *("_config.yml", "requirements.txt", "README.md", "pyproject.toml", "Makefile"),
    *("LICENSE", "CITATION.cff", "CONTRIBUTING.md", "CHANGELOG.md"),
}


def tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\n") if name and (ROOT / name).exists()]


def imported(path: Path) -> set[str]:
    """Modules of the package that a file imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.startswith(f"{PACKAGE.name}."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(f"{PACKAGE.name}."):
                    found.add(alias.name.split(".")[1])
    return found


def test_the_order_names_every_module():
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert modules == set(ORDER)


@pytest.mark.parametrize("name", ORDER)
def test_imports_point_backwards(name):
    modules = imported(PACKAGE / f"{name}.py") & set(ORDER)
    forwards = {m for m in modules if ORDER.index(m) >= ORDER.index(name)}
    assert not forwards, f"{name} imports {forwards}, which come later"


def test_the_top_level_holds_only_what_has_a_place_there():
    assert {name.split("/")[0] for name in tracked()} <= TOP_LEVEL


def test_chapters_and_tests_bear_the_name_of_a_component():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        number, stem = path.stem.split("_", 1)
        assert number.isdigit() and stem in ORDER, path.name
    covered = {"lexicon", "syntax", "english", "german", "doctor", "__main__"}
    for name in set(ORDER) - covered:
        assert (ROOT / "tests" / f"test_{name}.py").exists(), name


def test_no_file_names_a_folder_of_the_machine_it_was_written_on():
    home = re.compile(r"(?<![\w.])/(home|Users|root|work)/\w+")
    for name in tracked():
        if name.endswith(
            (".py", ".md", ".ipynb", ".yml", ".toml", ".txt", ".css", "run")
        ):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert not home.search(text), name


def test_nothing_is_unpickled_and_every_text_file_has_an_encoding():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import pickle" not in text and "weights_only=False" not in text, path
        assert "torch.load(" not in text, path


def test_corpora_are_not_committed():
    for name in tracked():
        assert not name.endswith((".gz", ".tgz", ".zip", ".tar")), name
        assert (ROOT / name).stat().st_size < 16_000_000, name


def test_one_version_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = project["project"]["version"]
    init = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{version}"' in init
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {version}\n" in citation
    assert f"## {version}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_requirements_pin_everything_and_name_no_host():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in text and "--" not in text
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ;.*)?", line.strip()), line
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *(name for extra in extras.values() for name in extra),
    ]
    for requirement in wanted:
        name = re.split(r"[^\w.-]", requirement)[0].lower()
        assert name in pinned | {"setuptools", "wheel"}, name


def test_the_package_alone_asks_for_lower_bounds_and_no_book_tools():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for requirement in project["project"]["dependencies"]:
        assert "==" not in requirement and "<" not in requirement
        assert "jupyter-book" not in requirement and "sphinx" not in requirement


def test_pip_lines_quote_their_extras():
    for name in tracked():
        if name.endswith((".md", ".ipynb")):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert not re.search(r"pip install [^'\"`\n]*\w\[", text), name


def test_the_wheel_installs_in_an_empty_environment_and_translates(tmp_path):
    def run(*command: object, cwd: Path = tmp_path) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            capture_output=True,
            timeout=300,
            input=b"I have a dog.\n\n",
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8")

    # A copy, since building leaves folders behind.
    copy = tmp_path / "source"
    for name in tracked():
        if name.startswith("annotated_transformer/") or "/" not in name:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    build = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path]
    run(sys.executable, *build, copy)
    [wheel] = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel)
    # Its dependencies are borrowed from here, so that nothing is fetched.
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed) + "\n", encoding="utf-8")
    where = run(python, "-c", "import annotated_transformer as a; print(a.__file__)")
    assert where.startswith(str(tmp_path / "venv"))
    view = "from annotated_transformer import explore; explore.masks().static_html()"
    run(python, "-c", view)  # its script is read from files of the package
    output = run(tmp_path / "venv/bin/annotated-transformer", "translate")
    assert output.count("\n") == 2 and output.split("\n")[0]
