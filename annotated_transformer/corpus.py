"""Real sentence pairs: fetched, checked, split and read; what is dropped is counted."""

import gzip
import hashlib
import itertools
import os
import re
import sys
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pooch

Pair: TypeAlias = tuple[str, str]
Files: TypeAlias = str | Path | tuple[str | Path, str | Path]


class CorpusError(ValueError):
    """A corpus that can't be had: which file, what is wrong, and what to do."""

    def __str__(self) -> str:
        return f"corpus: {super().__str__()}"


@dataclass(frozen=True)
class Split:
    """Sentences held out of training, each with every accepted translation.

    Args:
        references: references[i] are the translations of source[i], at least one.
    """

    source: list[str]
    references: list[list[str]]

    def __len__(self) -> int:
        return len(self.source)

    def pairs(self) -> list[Pair]:
        """Each sentence with each of its translations."""
        both = zip(self.source, self.references, strict=True)
        return [(source, target) for source, targets in both for target in targets]


@dataclass(frozen=True)
class Corpus:
    """Pairs to train on, sets to validate and test on, and what was left out.

    Args:
        source, target: the two languages, such as "en" and "de".
        sets: by name; the one that chooses between models comes first.
        dropped: number of pairs left out, by reason.
        attribution: whom to name, and the licence.
    """

    name: str
    source: str
    target: str
    train: list[Pair]
    sets: dict[str, Split]
    dropped: dict[str, int]
    attribution: str

    @property
    def development(self) -> Split:
        return next(iter(self.sets.values()))

    def summary(self) -> str:
        """Sizes, and what was dropped and why, a line each."""
        languages = f"{self.name} {self.source}-{self.target}"
        lines = [f"{languages}: {len(self.train):,} pairs to train on"]
        for name, split in self.sets.items():
            references = len(split.pairs())
            lines.append(f"{name}: {len(split):,} sentences, {references:,} references")
        lines += [f"dropped, {why}: {count:,}" for why, count in self.dropped.items()]
        return "\n".join(lines)


# What can be fetched.


@dataclass(frozen=True)
class Remote:
    """A file at an address that names a commit, so what lies there can't change."""

    url: str
    sha256: str


@dataclass(frozen=True)
class Published:
    """A corpus that others published: its files by name, and whom to name for it."""

    directions: tuple[tuple[str, str], ...]
    files: dict[str, Remote]
    attribution: str


# As `sha256sum` prints them.
MULTI30K_SHA256 = """
9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8  test_2016_flickr.de.gz
611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9  test_2016_flickr.en.gz
6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90  test_2016_flickr.fr.gz
a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee  test_2017_flickr.de.gz
76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074  test_2017_flickr.en.gz
3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496  test_2017_flickr.fr.gz
799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338  test_2017_mscoco.de.gz
aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58  test_2017_mscoco.en.gz
754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0  test_2017_mscoco.fr.gz
ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608  test_2018_flickr.de.gz
ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d  test_2018_flickr.en.gz
fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501  test_2018_flickr.fr.gz
726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6  train.de.gz
d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f  train.en.gz
622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c  train.fr.gz
f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a  val.de.gz
14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28  val.en.gz
ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9  val.fr.gz
"""
MULTI30K_SETS = (
    "val",
    "test_2016_flickr",
    "test_2017_flickr",
    "test_2017_mscoco",
    "test_2018_flickr",
)
GITHUB = "https://raw.githubusercontent.com"
CORPORA = {
    "tatoeba": Published(
        directions=(("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")),
        files={
            "deu-eng.zip": Remote(
                f"{GITHUB}/jhamburg/dats6450_nlp/"
                "fc38d83c4353d753fb9b34d98e945cbc5fab2811/deu-eng.zip",
                "71750f704aeb6b0a01fe57341c3051b9efd98f63b61ee266b2c2283d1b80cb71",
            ),
            "fra-eng.zip": Remote(
                f"{GITHUB}/modelexlab/data/"
                "adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
                "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44",
            ),
        },
        attribution="Sentences by the contributors of Tatoeba (tatoeba.org), CC BY 2.0 "
        "FR, in the pairs of manythings.org/anki.",
    ),
    "multi30k": Published(
        directions=tuple(itertools.permutations(("en", "de", "fr"), 2)),
        files={
            name: Remote(
                f"{GITHUB}/multi30k/dataset/"
                f"a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/{name}",
                sha256,
            )
            for sha256, name in map(str.split, MULTI30K_SHA256.split("\n")[1:-1])
        },
        attribution="Multi30k, task 1 (github.com/multi30k/dataset; Elliott, Frank, "
        "Sima'an and Specia, 2016), for research and education.",
    ),
}


def cache_folder() -> Path:
    """Where corpora lie, as `<corpus>/<file>`: $ANNOTATED_TRANSFORMER_DATA, if set."""
    folder = os.environ.get("ANNOTATED_TRANSFORMER_DATA")
    return Path(folder or pooch.os_cache("annotated-transformer")).expanduser()


@dataclass(frozen=True)
class Listing:
    """A corpus that can be fetched, and which of its files are still to be."""

    name: str
    languages: list[str]  # "en-de" and so on
    missing: list[str]
    attribution: str


def listing(cache: str | Path | None = None) -> list[Listing]:
    """The corpora that `fetch` and `load` know."""
    folder = Path(cache or cache_folder())
    entries = []
    for name, corpus in CORPORA.items():
        languages = [f"{source}-{target}" for source, target in corpus.directions]
        missing = [file for file in corpus.files if not there(folder / name / file)]
        entries.append(Listing(name, languages, missing, corpus.attribution))
    return entries


def published(name: str) -> Published:
    """A corpus of `CORPORA`, or an error that names them all."""
    if name not in CORPORA:
        raise CorpusError(
            f"there is no corpus {name!r}: choose from {', '.join(CORPORA)}, "
            f"or read your own files with load_files"
        )
    return CORPORA[name]


def fetch(name: str, cache: str | Path | None = None) -> Path:
    """The folder of a corpus, with each of its files there and sound.

    A file that has its checksum stays as it is, so a folder that is complete may be
    read-only; one with a wrong checksum is fetched again.

    Raises:
        CorpusError: a file can't be fetched or written, or isn't what it should be.
    """
    folder = Path(cache or cache_folder()) / name
    for file, remote in published(name).files.items():
        path = folder / file
        if not there(path) or sha256(path) != remote.sha256:
            download(remote, path)
    return folder


def obtain(name: str, file: str, folder: Path) -> Path:
    """A file of a corpus, fetched if it is missing or empty, refused if it is wrong."""
    remote = published(name).files[file]
    path = folder / name / file
    if not there(path):
        download(remote, path)
    elif sha256(path) != remote.sha256:
        raise CorpusError(
            f"{path} {mismatch(path, remote)}; fetch it again with "
            f"annotated-transformer corpus fetch {name}"
        )
    return path


def there(path: Path) -> bool:
    """Is it a file with anything in it? An empty one is what a full disk leaves."""
    return path.is_file() and path.stat().st_size > 0


def download(remote: Remote, path: Path) -> None:
    """Fetch a file; `path` exists afterwards only if all of it came and is right.

    Raises:
        CorpusError: no connection, no such page, a transfer that broke off, a checksum
            that differs, or a folder that can't be written.
    """
    # A name of its own: two processes may fetch one file at the same time.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise CorpusError(
            f"{path.name} is to be fetched, but {path.parent} can't be written "
            f"({error.strerror}): set ANNOTATED_TRANSFORMER_DATA to a folder that can"
        ) from None
    fetcher = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=30)
    try:
        fetcher(remote.url, str(part), None)
        if sha256(part) != remote.sha256:
            raise CorpusError(
                f"{path.name} as fetched from {remote.url} {mismatch(part, remote)}; "
                f"nothing was kept: try again, or find that file elsewhere and save it "
                f"as {path}"
            )
        os.replace(part, path)
    except OSError as error:
        reason = str(error).partition(" for url")[0]
        reason = reason if len(reason) < 50 else type(error).__name__
        raise CorpusError(
            f"{path.name} could not be fetched from {remote.url} ({reason}): try again "
            f"when the network is there, or save the file as {path}"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def mismatch(path: Path, remote: Remote) -> str:
    """Which checksum a file should have and has, and what the file seems to be."""
    seems = impostor(path.read_bytes()[:500])
    return (
        f"is {seems or 'not the file that this package knows'}: its SHA-256 should be "
        f"{remote.sha256} and is {sha256(path)} (of {remote.url})"
    )


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
        raise CorpusError(f"{path} can't be read ({error}): fetch it again") from None
    seems = impostor(data[:500])
    if seems or not data:
        raise CorpusError(f"{path} is {seems or 'empty'}: fetch it again")
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


# What is kept, and where it goes.


def letters(sentence: str) -> str:
    """A sentence without case, spaces and punctuation: what makes two the same."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    return re.sub(r"[\W_]+", "", folded) or sentence


def portion(sentence: str) -> str:
    """Where a sentence goes: one in 50 to development, one in 50 to test, by a hash.

    A hash and not a shuffle: each sentence stays where it is whatever else a later
    version of the corpus holds, and all of its translations go with it.
    """
    digest = hashlib.sha256(letters(sentence).encode("utf-8")).hexdigest()
    return {0: "development", 1: "test"}.get(int(digest, 16) % 50, "train")


def clean(pairs: Iterable[Pair], dropped: Counter[str], where: str) -> list[Pair]:
    """Pairs without an empty side and without a copy in place of a translation."""
    kept = []
    for source, target in pairs:
        if not source or not target:
            dropped[f"{where}: a side is empty"] += 1
        elif source == target:
            dropped[f"{where}: the translation is a copy"] += 1
        else:
            kept.append((source, target))
    return kept


def once(pairs: list[Pair], dropped: Counter[str], where: str) -> list[Pair]:
    """Each pair at its first place only."""
    kept = list(dict.fromkeys(pairs))
    if fewer := len(pairs) - len(kept):
        dropped[f"{where}: a pair comes again"] += fewer
    return kept


def without(
    pairs: Iterable[Pair], sets: Iterable[Split], dropped: Counter[str]
) -> list[Pair]:
    """Pairs to train on: neither side is among the sentences held out.

    Both sides count, so the same pairs serve both directions, and a test sentence
    can't be met in training by way of another of its translations.
    """
    held = {letters(side) for split in sets for pair in split.pairs() for side in pair}
    kept = []
    for pair in pairs:
        if held.isdisjoint(map(letters, pair)):
            kept.append(pair)
        else:
            dropped["train: a side is held out"] += 1
    return kept


def group(pairs: Iterable[Pair]) -> Split:
    """Every translation of a sentence with it."""
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    return Split(list(references), list(references.values()))


def divide(
    pairs: list[Pair], dropped: Counter[str]
) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """Training pairs, and a development and a test set, by `portion` of the source.

    No sentence of one set is in the other, on either side: development gives way.
    """
    parts: dict[str, list[Pair]] = {"train": [], "development": [], "test": []}
    for pair in pairs:
        parts[portion(pair[0])].append(pair)
    tested = {letters(side) for pair in parts["test"] for side in pair}
    shared = {
        letters(pair[0])
        for pair in parts["development"]
        if not tested.isdisjoint(map(letters, pair))
    }
    development = [p for p in parts["development"] if letters(p[0]) not in shared]
    if fewer := len(parts["development"]) - len(development):
        dropped["development: a side is in test"] += fewer
    return parts["train"], {"development": development, "test": parts["test"]}


def load(
    name: str,
    source: str = "en",
    target: str = "de",
    cache: str | Path | None = None,
) -> Corpus:
    """A published corpus, from the cache; what is missing there is fetched.

    Tatoeba is divided by the English sentence in either direction: all translations of
    one go to one set; from German, the references are the English sentences of the set.
    Multi30k keeps its published sets, line for line. No sentence of a set, on either
    side, is in a training pair.

    Args:
        name: a key of `CORPORA`.
        cache: a folder with `<corpus>/<file>`, for `cache_folder()`.
    Raises:
        CorpusError: no such corpus or direction, or a file of it can't be had.
    """
    directions = published(name).directions
    if (source, target) not in directions:
        raise CorpusError(
            f"{name} has no {source}-{target}: choose from "
            f"{', '.join('-'.join(direction) for direction in directions)}"
        )
    read = {"tatoeba": read_tatoeba, "multi30k": read_multi30k}[name]
    return read(source, target, Path(cache or cache_folder()))


def read_tatoeba(source: str, target: str, folder: Path) -> Corpus:
    """Everyday sentences, with several translations each."""
    file, member = {
        "de": ("deu-eng.zip", "deu.txt"),
        "fr": ("fra-eng.zip", "fra-eng/fra.txt"),
    }[source if target == "en" else target]
    dropped: Counter[str] = Counter()
    pairs = read_columns(obtain("tatoeba", file, folder), member)
    pairs = once(clean(pairs, dropped, "all"), dropped, "all")
    train, held = divide(pairs, dropped)
    if target == "en":  # The file has English first.
        train = [(foreign, english) for english, foreign in train]
        held = {name: [(f, e) for e, f in part] for name, part in held.items()}
    sets = {name: group(part) for name, part in held.items()}
    train = without(train, sets.values(), dropped)
    credit = CORPORA["tatoeba"].attribution
    return Corpus("tatoeba", source, target, train, sets, dict(dropped), credit)


def read_multi30k(source: str, target: str, folder: Path) -> Corpus:
    """Captions of pictures, with one translation each."""
    remedy = "fetch it again with annotated-transformer corpus fetch multi30k"
    dropped: Counter[str] = Counter()
    parts = {}
    for part in ("train", *MULTI30K_SETS):
        files = [f"{part}.{language}.gz" for language in (source, target)]
        paths = [obtain("multi30k", file, folder) for file in files]
        parts[part] = read_parallel(paths[0], paths[1], remedy)
    sets = {name: single(parts[name]) for name in MULTI30K_SETS}
    train = once(clean(parts["train"], dropped, "train"), dropped, "train")
    train = without(train, sets.values(), dropped)
    credit = CORPORA["multi30k"].attribution
    return Corpus("multi30k", source, target, train, sets, dict(dropped), credit)


def single(pairs: Iterable[Pair]) -> Split:
    """One translation a sentence, in the order of the lines."""
    pairs = list(pairs)
    return Split([source for source, _ in pairs], [[target] for _, target in pairs])


def load_files(
    train: Files,
    development: Files | None = None,
    test: Files | None = None,
    source: str = "en",
    target: str = "de",
    name: str = "files",
) -> Corpus:
    """A corpus of your own: UTF-8 text, one sentence a line; .gz is read as it is.

    A set that isn't given is taken out of the training pairs, by `portion` of the
    source. Given sets stay line for line, but for empty sides and copies.

    Args:
        train, development, test: each one tab-separated file, or a pair of files.
    Raises:
        CorpusError: a file is missing, damaged or not text; two differ in their number
            of lines; or a set that was to be taken out of the training pairs is empty.
    """
    dropped: Counter[str] = Counter()
    pairs = once(clean(read_files(train), dropped, "train"), dropped, "train")
    sets = {}
    for label, files in (("development", development), ("test", test)):
        if files is not None:
            sets[label] = single(clean(read_files(files), dropped, label))
        else:
            held = [pair for pair in pairs if portion(pair[0]) == label]
            pairs = [pair for pair in pairs if portion(pair[0]) != label]
            sets[label] = group(held)
        if not sets[label]:
            raise CorpusError(
                f"{label} has no sentence: give load_files a file with some"
            )
    pairs = without(pairs, sets.values(), dropped)
    return Corpus(name, source, target, pairs, sets, dict(dropped), attribution="")


def read_files(files: Files) -> list[Pair]:
    if isinstance(files, tuple):
        remedy = "line n of one must be the translation of line n of the other"
        return read_parallel(*files, remedy)
    return read_columns(files)
