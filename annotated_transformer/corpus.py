"""Real sentence pairs: read, divided into sets, and what is dropped is counted."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from annotated_transformer.download import (
    CORPORA,
    MULTI30K_SETS,
    cache_folder,
    obtain,
    published,
)
from annotated_transformer.text_files import (
    CorpusError,
    Pair,
    read_columns,
    read_parallel,
)

Files: TypeAlias = str | Path | tuple[str | Path, str | Path]


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

    @property
    def identity(self) -> str:
        """Name, languages and a checksum of what a run learns from and is chosen by."""
        digest = hashlib.sha256()
        for pair in chain(self.train, self.development.pairs()):
            digest.update("\t".join(pair).encode("utf-8") + b"\n")
        return f"{self.name} {self.source}-{self.target} {digest.hexdigest()[:16]}"

    def summary(self) -> str:
        """Sizes, and what was dropped and why, a line each."""
        languages = f"{self.name} {self.source}-{self.target}"
        lines = [f"{languages}: {len(self.train):,} pairs to train on"]
        for name, split in self.sets.items():
            references = len(split.pairs())
            lines.append(f"{name}: {len(split):,} sentences, {references:,} references")
        lines += [f"dropped, {why}: {count:,}" for why, count in self.dropped.items()]
        return "\n".join(lines)


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
            reasons = [f"{why}: {count:,}" for why, count in dropped.items()]
            raise CorpusError(
                f"{label} has no sentence; dropped: {', '.join(reasons) or 'none'}. "
                f"Give more pairs, of which one in 50 is taken, or load_files a set"
            )
    pairs = without(pairs, sets.values(), dropped)
    return Corpus(name, source, target, pairs, sets, dict(dropped), attribution="")


def read_files(files: Files) -> list[Pair]:
    if isinstance(files, tuple):
        remedy = "line n of one must be the translation of line n of the other"
        return read_parallel(*files, remedy)
    return read_columns(files)
