"""Lines are what is between newlines, and a file that has none is named."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import text_files
from annotated_transformer.text_files import CorpusError
from tests.files import PAGE, POINTER, write, zipped

# Python's own idea of where a line ends, but for "\n" itself.
SEPARATORS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
def test_only_a_newline_ends_a_line(tmp_path, separator):
    path = write(tmp_path / "text", f"a{separator}b\nc\n")
    assert text_files.read_lines(path) == [f"a{separator}b", "c"]


def test_windows_line_ends_and_a_byte_order_mark_are_no_text(tmp_path):
    path = write(tmp_path / "text", "\ufeffein\r\nzwei\r\n")
    assert text_files.read_lines(path) == ["ein", "zwei"]


def test_the_last_line_needs_no_end_and_empty_lines_count(tmp_path):
    assert text_files.read_lines(write(tmp_path / "text", "a\n\nb")) == ["a", "", "b"]
    assert text_files.read_lines(write(tmp_path / "text", "a\n\n")) == ["a", ""]


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\r\n\ufeff")


@given(st.lists(st.text(CHARACTERS), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory, lines):
    text = "".join(line + "\n" for line in lines)
    path = write(tmp_path_factory.mktemp("lines") / "text.gz", zipped(text.encode()))
    assert text_files.read_lines(path) == lines


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train.de", "Größe\nStraße\n".encode("latin-1"), r"train\.de, line 1: .*0xf6"),
        ("train.de", b"gut\ngut\nStra\xdfe\n", r"line 3: byte 5 \(0xdf\) is not UTF-8"),
        ("train.de", "gut\n".encode("utf-16"), r"line 1: .* save the file as UTF-8"),
        ("train.de", b"", r"train\.de is empty"),
        ("train.de", POINTER, r"train\.de is a Git LFS pointer"),
        ("train.de.gz", POINTER, r"train\.de\.gz is a Git LFS pointer"),
        ("train.de", PAGE, r"train\.de is a web page"),
        ("train.de.gz", b"\n" + PAGE.lower(), r"train\.de\.gz is a web page"),
        ("train.de.gz", zipped(PAGE), r"train\.de\.gz is a web page"),
        (
            "train.de.gz",
            b"gut\n",
            r"train\.de\.gz can't be read .* replace it by a whole one",
        ),
        ("train.de.gz", zipped(b"gut\n" * 99)[:-9], r"\.gz can't be read"),
        ("train.de.gz", zipped(b"gut" * 99)[:-4] + b"....", r"\.gz can't be"),
        ("train.de.gz", zipped(b"gut")[:10] + b"\xff" * 20, r"\.gz can't be"),
    ],
)
def test_a_file_that_is_not_text_is_named_with_what_it_is(
    tmp_path, name, content, message
):
    with pytest.raises(CorpusError, match=message) as caught:
        text_files.read_lines(write(tmp_path / name, content))
    assert str(caught.value).startswith("corpus: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.en is missing"):
        text_files.read_lines(tmp_path / "nowhere.en")
    with pytest.raises(CorpusError, match="can't be read"):
        text_files.read_lines(tmp_path)


def test_a_damaged_archive_is_named(tmp_path):
    path = write(tmp_path / "pairs.zip", b"PK not an archive")
    with pytest.raises(CorpusError, match=r"pairs\.zip can't be read"):
        text_files.read_lines(path, "deu.txt")


def test_a_line_without_a_tab_is_named(tmp_path):
    path = write(tmp_path / "a.tsv", "a\tb\nno tab here\n")
    with pytest.raises(CorpusError, match=r"a\.tsv, line 2 has no tab"):
        text_files.read_columns(path)


def test_columns_after_the_second_are_not_read(tmp_path):
    path = write(tmp_path / "a.tsv", "Hi.\tHallo!\tCC-BY 2.0 (France) tatoeba.org\n")
    assert text_files.read_columns(path) == [("Hi.", "Hallo!")]


def test_umlauts_are_read_whatever_the_locale(tmp_path):
    path = write(tmp_path / "a.tsv", "street\tStraße „über“\n")
    program = (
        "import sys; from annotated_transformer import text_files;"
        "print(ascii(text_files.read_columns(sys.argv[1])))"
    )
    command = [sys.executable, "-X", "utf8=0", "-X", "warn_default_encoding"]
    result = subprocess.run(
        [
            *command,
            "-W",
            "error::EncodingWarning:annotated_transformer",
            "-c",
            program,
            path,
        ],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stdout.strip() == ascii([("street", "Straße „über“")])
