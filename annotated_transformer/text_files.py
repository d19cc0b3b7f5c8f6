"""Text files of sentences: read line by line, and refused with the reason."""

import gzip
import re
import zipfile
import zlib
from pathlib import Path
from typing import TypeAlias

Pair: TypeAlias = tuple[str, str]


class CorpusError(ValueError):
    """A corpus that can't be had: which file, what is wrong, and what to do."""

    def __str__(self) -> str:
        return f"corpus: {super().__str__()}"


def impostor(start: bytes) -> str | None:
    """What often comes in place of a file, told by the first bytes."""
    if start.startswith(b"version https://git-lfs.github.com/spec/"):
        return "a Git LFS pointer, not the file it points to"
    if re.match(rb"\s*<(!doctype html|html|\?xml)", start, re.IGNORECASE):
        return "a web page, not the file"
    return None


def read_lines(path: str | Path, member: str | None = None) -> list[str]:
    r"""The lines of a text file, plain or within .gz or .zip; only "\n" ends one.

    What `str.splitlines` would also split at, such as U+2028, is text; a "\r" before
    the end of the line is not.

    Args:
        member: the file inside a .zip.
    Raises:
        CorpusError: the file is missing, damaged, empty, not text, or not UTF-8.
    """
    try:
        data = Path(path).read_bytes()
        if member is not None:
            with zipfile.ZipFile(path) as archive:
                data = archive.read(member)
        elif Path(path).suffix == ".gz" and not impostor(data[:500]):
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise CorpusError(f"{path} is missing: check the name") from None
    except (OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise CorpusError(
            f"{path} can't be read ({error}): replace it by a whole one"
        ) from None
    seems = impostor(data[:500])
    if seems or not data:
        raise CorpusError(f"{path} is {seems or 'empty'}: replace it by a whole one")
    rows = data.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
    lines = []
    for number, row in enumerate(rows, 1):
        try:
            lines.append(row.decode("utf-8").removesuffix("\r"))
        except UnicodeDecodeError as error:
            raise CorpusError(
                f"{path}, line {number:,}: byte {error.start + 1} "
                f"(0x{row[error.start]:02x}) is not UTF-8; save the file as UTF-8"
            ) from None
    return lines


def read_columns(path: str | Path, member: str | None = None) -> list[Pair]:
    """Pairs of a tab-separated file; columns after the second are not read.

    Spaces at the ends of a sentence go.

    Raises:
        CorpusError: a line that is not blank has no tab.
    """
    pairs = []
    for number, line in enumerate(read_lines(path, member), 1):
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 2 and columns != [""]:
            raise CorpusError(
                f"{path}, line {number:,} has no tab: give a sentence, a tab and its "
                f"translation on each line, or two parallel files"
            )
        pairs.append((columns[0], columns[1]) if len(columns) > 1 else ("", ""))
    return pairs


def read_parallel(source: str | Path, target: str | Path, remedy: str) -> list[Pair]:
    """Pairs of two files, line n of one with line n of the other.

    Spaces at the ends of a sentence go.

    Raises:
        CorpusError: one has more lines.
    """
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise CorpusError(
            f"{target} has {len(targets):,} lines, {source} has {len(sources):,}; "
            f"{remedy}"
        )
    both = zip(sources, targets, strict=True)
    return [(source.strip(), target.strip()) for source, target in both]
