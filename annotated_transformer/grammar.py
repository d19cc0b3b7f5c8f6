"""The built-in corpus: generated English-German pairs with gold alignments and links.

A random tree is said in both languages, each by its own rules. Words that say the same
part of the tree are aligned, and agreement joins parts: neither is guessed.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import NamedTuple

from annotated_transformer.corpus import Corpus, Split
from annotated_transformer.english import english
from annotated_transformer.german import german
from annotated_transformer.syntax import (
    Clause,
    Concept,
    NounPhrase,
    Statement,
    Word,
    grow,
)

LONGEST = 20  # words and marks of a sentence, in either language
SPLITS = {"development": (0,), "test": (1,), "train": range(2, 8)}  # eighths of all
DISTANCES = range(1, 13)  # from a verb to its subject, in words


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
            places.setdefault(concept, []).append(position)
    return places


def partners(node: object, role: str) -> tuple[str, list[Concept]]:
    """The kind of link that a concept has, and the concepts at the other end."""
    if isinstance(node, NounPhrase) and role in ("determiner", "adjective"):
        kind = "article-noun" if role == "determiner" else "adjective-noun"
        return kind, [(node, "noun")]
    if isinstance(node, Clause):
        if role == "finite":
            subjects: list[Concept] = [(phrase, "noun") for phrase in node.subject]
            return "subject-verb", subjects or [(node, "pronoun")]
        if role == "particle":
            return "verb-particle", [(node, "verb")]
        if role == "pronoun":
            return "relative-antecedent", [(node.antecedent, "noun")]
    return "", []


def links(side: str, places: dict[Concept, list[int]]) -> Iterator[Link]:
    """All links of a sentence. A word has none with itself, as "anruft" would."""
    for (node, role), (position, *_) in places.items():
        kind, others = partners(node, role)
        for other in others:
            ends = places[other][0], position
            head, dependent = ends[::-1] if kind == "subject-verb" else ends
            if head != dependent:
                yield Link(kind, side, head, dependent)


def spell(words: Sequence[Word]) -> tuple[str, ...]:
    (first, _), *rest = words
    return first[0].upper() + first[1:], *(form for form, _ in rest)


def pair(made: Statement, source: Sequence[Word]) -> Sentence:
    target = german(made)
    here, there = find(source), find(target)
    alignment = frozenset(
        (i, j)
        for concept in here
        for i in here[concept]
        for j in there.get(concept, ())
    )
    both = (*links("source", here), *links("target", there))
    return Sentence(spell(source), spell(target), alignment, both)


def eighth(words: Sequence[str]) -> int:
    """A number below 8, from the words alone: the same on every machine."""
    digest = hashlib.blake2b(" ".join(words).encode("utf-8"), digest_size=1).digest()
    return digest[0] % 8


def generate(seed: int = 0, split: str = "train") -> Iterator[Sentence]:
    """Sentences without end and without repetition; the English text decides its split.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SPLITS:
        raise ValueError(f"split={split!r} must be one of {', '.join(SPLITS)}")
    random, seen = Random(f"{split} {seed}"), set()
    while True:
        made = grow(random)
        source = english(made)
        words = spell(source)
        if len(words) > LONGEST or words in seen:
            continue
        if eighth(words) in SPLITS[split]:
            seen.add(words)
            sentence = pair(made, source)
            if len(sentence.target) <= LONGEST:
                yield sentence


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
        ValueError: no or hardly any sentence has this distance.
    """
    if distance not in DISTANCES:
        first, last = DISTANCES[0], DISTANCES[-1]
        raise ValueError(f"distance={distance} must be from {first} to {last} words")
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
    held_out = {"development": development, "test": test}
    made = {
        name: sentences(count, seed, name)
        for name, count in {"train": train, **held_out}.items()
    }
    return Corpus(
        name="grammar",
        source="en",
        target="de",
        train=[(pair.source_text, pair.target_text) for pair in made["train"]],
        sets={
            name: Split(
                [pair.source_text for pair in made[name]],
                [[pair.target_text] for pair in made[name]],
            )
            for name in held_out
        },
        dropped={},
        attribution="generated by annotated_transformer.grammar; no rights reserved",
    )
