"""The built-in corpus: generated English-German pairs with gold alignments and links.

A random tree is said in both languages, each by its own rules. Words that say the same
part of the tree are aligned, and agreement joins parts: neither is guessed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from random import Random
from typing import NamedTuple

from annotated_transformer.corpus import Corpus, Split
from annotated_transformer.english import english
from annotated_transformer.german import german
from annotated_transformer.syntax import Clause, Concept, Word, grow

LONGEST = 18  # words and marks of a sentence, in either language
SPLITS = {"development": (0,), "test": (1,), "train": range(2, 8)}  # eighths of all
# From a verb to its subject in words, as far as a few sentences in 10,000 have it.
DISTANCES = {"source": [1, *range(3, 11)], "target": [*range(1, 11)]}


class Link(NamedTuple):
    """Two words of one language that agree, or form one verb.

    Args:
        kind: "subject-verb", "article-noun", "adjective-noun", "verb-particle" or
            "relative-antecedent".
        side: "source" or "target".
        head, dependent: positions. The verb, noun or antecedent is the head. "The dog
            that sleeps": the subject of "sleeps" is "that", its antecedent "dog".
    """

    kind: str
    side: str
    head: int
    dependent: int


@dataclass(frozen=True)
class Sentence:
    """A pair as words and marks; positions count both.

    Args:
        alignment: positions in source and target that translate each other. A German
            comma without an English one has no partner.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    links: tuple[Link, ...]

    @property
    def source_text(self) -> str:
        return text(self.source)

    @property
    def target_text(self) -> str:
        return text(self.target)

    def agreement_distance(self, side: str = "source") -> int:
        """Words from a finite verb to its subject, the longest way there is."""
        links = [link for link in self.links if link[:2] == ("subject-verb", side)]
        return max(abs(link.head - link.dependent) for link in links)


def text(words: Sequence[str]) -> str:
    """Words as they are written: no space before a comma or a full stop."""
    return " ".join(words).replace(" ,", ",").replace(" .", ".")


def find(words: Sequence[Word]) -> dict[Concept, list[int]]:
    """Where each concept is said."""
    places: dict[Concept, list[int]] = {}
    for position, (_, concepts) in enumerate(words):
        for concept in concepts:
            if concept in places:
                places[concept].append(position)
            else:
                places[concept] = [position]
    return places


# The role of one end of a link; its kind, and the role of the other end, if that is of
# the same node.
LINKS = {
    "determiner": ("article-noun", "noun"),
    "adjective": ("adjective-noun", "noun"),
    "particle": ("verb-particle", "verb"),
    "finite": ("subject-verb", ""),
    "pronoun": ("relative-antecedent", ""),
}


def partners(node: object, role: str) -> list[Concept]:
    """The concepts at the other ends of the links that start from one in `LINKS`."""
    if isinstance(node, Clause) and role == "finite":
        return [(phrase, "noun") for phrase in node.subject] or [(node, "pronoun")]
    if isinstance(node, Clause) and role == "pronoun":
        return [(node.antecedent, "noun")]
    return [(node, LINKS[role][1])]


def links(side: str, places: dict[Concept, list[int]]) -> Iterator[Link]:
    """All links of a sentence. A word has none with itself, as "anruft" would."""
    for (node, role), (position, *_) in places.items():
        if role not in LINKS:
            continue
        for partner in partners(node, role):
            ends = places[partner][0], position
            head, dependent = ends[::-1] if role == "finite" else ends
            if head != dependent:
                yield Link(LINKS[role][0], side, head, dependent)


def spell(words: Sequence[Word]) -> tuple[str, ...]:
    """The words without their concepts, with a capital at the start."""
    forms = [form for form, _ in words]
    return forms[0][0].upper() + forms[0][1:], *forms[1:]


def pair(source: Sequence[Word], target: Sequence[Word]) -> Sentence:
    """What both languages say, with the alignment and the links."""
    here, there = find(source), find(target)
    alignment = {
        (i, j)
        for concept in here.keys() & there.keys()
        for i in here[concept]
        for j in there[concept]
    }
    both = (*links("source", here), *links("target", there))
    return Sentence(spell(source), spell(target), frozenset(alignment), both)


def eighth(english_text: str) -> int:
    """A number below 8, from the text alone: the same in every run and place."""
    digest = hashlib.blake2b(english_text.encode("utf-8"), digest_size=1).digest()
    return digest[0] % 8


def say_trees(seed: int, split: str) -> Iterator[tuple[list[Word], list[Word]]]:
    """Random trees in English and German, no sentence twice, only those of the split.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SPLITS:
        raise ValueError(f"split={split!r} must be one of {', '.join(SPLITS)}")
    random, seen = Random(f"{split} {seed}"), set()
    while True:
        tree = grow(random)
        source = english(tree)
        english_text = " ".join(spell(source))
        if english_text in seen or eighth(english_text) not in SPLITS[split]:
            continue
        seen.add(english_text)
        target = german(tree)
        if max(len(source), len(target)) <= LONGEST:
            yield source, target


def generate(seed: int = 0, split: str = "train") -> Iterator[Sentence]:
    """Sentences without end and without repetition; the English text decides its split.

    Raises:
        ValueError: there is no such split.
    """
    return starmap(pair, say_trees(seed, split))


def sentences(count: int, seed: int = 0, split: str = "train") -> list[Sentence]:
    """The first so many of `generate`."""
    return list(islice(generate(seed, split), count))


def sentences_at(
    distance: int,
    count: int,
    seed: int = 0,
    split: str = "test",
    side: str = "source",
) -> list[Sentence]:
    """Sentences with just this `agreement_distance`; far ones are rare, so slow.

    Raises:
        ValueError: there is no such side, or hardly any sentence has this distance.
    """
    if side not in DISTANCES:
        raise ValueError(f"side={side!r} must be one of {', '.join(DISTANCES)}")
    if distance not in DISTANCES[side]:
        raise ValueError(
            f"distance={distance} is too rare, or never found, in the {side}: "
            f"choose from {', '.join(map(str, DISTANCES[side]))}"
        )
    found = (
        sentence
        for sentence in generate(seed, split)
        if sentence.agreement_distance(side) == distance
    )
    return list(islice(found, count))


def corpus(
    train: int = 50_000, development: int = 500, test: int = 1000, seed: int = 0
) -> Corpus:
    """Generated pairs as a corpus like any other, so many of each split."""

    def pairs(count: int, split: str) -> list[tuple[str, str]]:
        said = islice(say_trees(seed, split), count)
        return [(text(spell(source)), text(spell(target))) for source, target in said]

    sets = {}
    for split, count in {"development": development, "test": test}.items():
        held_out = pairs(count, split)
        sets[split] = Split(
            [source for source, _ in held_out], [[target] for _, target in held_out]
        )
    return Corpus(
        name="grammar",
        source="en",
        target="de",
        train=pairs(train, "train"),
        sets=sets,
        dropped={},
        attribution="generated by annotated_transformer.grammar; no rights reserved",
    )
