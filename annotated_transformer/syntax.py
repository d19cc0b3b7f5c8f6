"""What a sentence of the built-in grammar says: a tree without a language.

`english` and `german` turn it into words. A word remembers its concepts, the parts of
the tree that it says, each a node with a role: words that share one are translations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias, TypeVar

from annotated_transformer import lexicon
from annotated_transformer.lexicon import (
    Adjective,
    Determiner,
    Noun,
    Preposition,
    Pronoun,
    Verb,
)

T = TypeVar("T")


Concept: TypeAlias = tuple[object, str]
Word: TypeAlias = tuple[str, tuple[Concept, ...]]


@dataclass(eq=False, slots=True)
class NounPhrase:
    """A noun or pronoun with what describes it."""

    noun: Noun | Pronoun
    determiner: Determiner
    plural: bool
    adjective: Adjective | None = None
    place: "Place | None" = None
    relative: "Clause | None" = None


Phrase: TypeAlias = tuple[NounPhrase, ...]  # joined by "and"


@dataclass(eq=False, slots=True)
class Place:
    preposition: Preposition
    phrase: NounPhrase


@dataclass(eq=False, slots=True)
class Clause:
    """A verb and who takes part in what it says.

    Args:
        gap: in a relative clause, what its pronoun stands for: "subject", "dative" or
            "accusative"; that field is empty then.
        antecedent: in a relative clause, the phrase that it describes.
    """

    verb: Verb
    subject: Phrase = ()
    dative: Phrase = ()
    accusative: Phrase = ()
    predicate: Adjective | None = None
    modal: Verb | None = None
    negated: bool = False
    gap: str = ""
    antecedent: NounPhrase | None = None

    @property
    def plural(self) -> bool:
        """Whether the subject is: two joined by "and" are, whatever each is."""
        if self.gap == "subject" and self.antecedent:
            return self.antecedent.plural
        return len(self.subject) > 1 or self.subject[0].plural


@dataclass(eq=False, slots=True)
class Subordinate:
    conjunction: tuple[str, str]  # in English, in German
    clause: Clause


@dataclass(eq=False, slots=True)
class Adverb:
    words: tuple[tuple[str, str], ...]  # each in English and in German


@dataclass(eq=False, slots=True)
class Statement:
    """A main clause, with what may stand before and after it.

    Args:
        second: what else the main clause's subject does, joined by "and".
    """

    main: Clause
    front: Adverb | Place | Subordinate | None = None
    second: Clause | None = None
    last: Subordinate | None = None


def say(word: str, *concepts: Concept) -> list[Word]:
    """A word, or several that are one: "in front of". No word says nothing."""
    return [(form, concepts) for form in word.split()]


# A random tree. None is grown that could be translated in two ways: "sees the man with
# the dog and the cat" has two readings, in which German has two cases.


def choose(random: Random, options: Sequence[T]) -> T:
    # Random.choice may draw otherwise in another Python; random() never changes.
    return options[int(random.random() * len(options))]


def chance(random: Random, probability: float) -> bool:
    return random.random() < probability


DEFINITE = (*[lexicon.THE] * 6, lexicon.THIS, lexicon.MY)
INDEFINITE = (lexicon.A, lexicon.A, lexicon.BARE)  # what "kein" can negate
SUBJECT = (*DEFINITE, lexicon.A, lexicon.TWO, lexicon.BARE, lexicon.NO)
OBJECT = (*DEFINITE, *INDEFINITE, lexicon.TWO)
PLACE = (*[lexicon.THE] * 4, lexicon.A)
DESCRIBED = (lexicon.THE, lexicon.A, lexicon.TWO)  # may have a place or a relative
JOINED = (lexicon.THE, lexicon.THIS, lexicon.MY, lexicon.A, lexicon.TWO)
NOT_MINE = ("person", "room", "landmark")  # "meine Frau" is not "my woman"
MODALS = (lexicon.CAN, lexicon.MUST, lexicon.WANT)
EVENTS = (*lexicon.VERBS, lexicon.BE, lexicon.BE)
BY_KIND = {
    kind: [word for word in lexicon.ADJECTIVES if kind in word.kinds.split()]
    for kind in lexicon.EVERYTHING.split()
}


def relatives(noun: Noun) -> list[tuple[str, Verb]]:
    """What a relative clause can say of a noun: the pronoun's part in it, the verb."""
    found = [("subject", verb) for verb in EVENTS if noun in verb.subjects]
    for verb in lexicon.VERBS:
        if noun in verb.accusatives:
            found += [("accusative", verb)] * 2
        elif noun in verb.datives and not verb.accusatives:
            found += [("dative", verb)] * 2
    return found


RELATIVES = {noun: relatives(noun) for noun in lexicon.ALL}


def noun_phrase(
    random: Random, nouns: Sequence[Noun], determiners: Sequence[Determiner]
) -> NounPhrase:
    """A determiner, perhaps an adjective, and a noun."""
    noun, determiner = choose(random, nouns), choose(random, determiners)
    if determiner is lexicon.MY and noun.kind in NOT_MINE:
        determiner = lexicon.THE
    both = determiner.singular is not None and determiner.plural is not None
    plural = chance(random, 0.4) if both else determiner.singular is None
    adjective = choose(random, BY_KIND[noun.kind]) if chance(random, 0.17) else None
    return NounPhrase(noun, determiner, plural, adjective)


def place(random: Random) -> Place:
    preposition = choose(random, lexicon.PLACES)
    return Place(preposition, noun_phrase(random, preposition.nouns, PLACE))


def describe(random: Random, phrase: NounPhrase) -> None:
    """Give some phrases a place, a companion or a relative clause."""
    draw = random.random()
    if phrase.determiner not in DESCRIBED or draw > 0.15:
        return
    if draw < 0.08:
        assert isinstance(phrase.noun, Noun)  # nothing describes a pronoun
        gap, verb = choose(random, RELATIVES[phrase.noun])
        phrase.relative = clause(random, verb, gap, phrase)
    elif draw < 0.115 and phrase.noun in lexicon.PERSONS:
        companion = noun_phrase(random, lexicon.WITH.nouns, OBJECT)
        phrase.place = Place(lexicon.WITH, companion)
    else:
        phrase.place = place(random)


def phrases(
    random: Random,
    nouns: Sequence[Noun],
    determiners: Sequence[Determiner],
    described: bool,
    joined: bool = True,
) -> Phrase:
    """A noun phrase, or two joined by "and".

    Args:
        described: it may have a place or a relative clause. If joined, it has none.
    """
    first = noun_phrase(random, nouns, determiners)
    if joined and first.determiner in JOINED and chance(random, 0.08):
        second = noun_phrase(random, nouns, DEFINITE)
        if second.noun is not first.noun:
            return first, second
    if described:
        describe(random, first)
    return (first,)


def add_subject(random: Random, made: Clause, described: bool) -> None:
    nouns: Sequence[Noun] = made.verb.subjects
    if made.verb is lexicon.BE:
        nouns = choose(random, (lexicon.ANIMATE, lexicon.ANIMATE, lexicon.THINGS))
    if nouns is not lexicon.THINGS and chance(random, 0.12):
        pronoun = choose(random, lexicon.PRONOUNS)
        made.subject = (NounPhrase(pronoun, lexicon.BARE, pronoun.plural),)
    else:
        # "No man must" says "darf", and "a dog does not" may say "kein".
        clear = made.negated or made.modal is lexicon.MUST
        determiners = DEFINITE if clear else SUBJECT
        made.subject = phrases(random, nouns, determiners, described)


def add_objects(random: Random, made: Clause, described: bool) -> None:
    verb, joined = made.verb, not made.negated
    if verb.datives and made.gap != "dative":
        determiners = DEFINITE if made.negated or verb.accusatives else OBJECT
        last = described and not verb.accusatives
        made.dative = phrases(random, verb.datives, determiners, last, joined)
    if verb.accusatives and made.gap != "accusative":
        determiners = (*DEFINITE, *INDEFINITE) if made.negated else OBJECT
        made.accusative = phrases(
            random, verb.accusatives, determiners, described, joined
        )
    if verb is lexicon.BE:
        first = made.antecedent or made.subject[0]
        made.predicate = predicate(random, first)


def predicate(random: Random, subject: NounPhrase) -> Adjective:
    """What may be said of the subject, and was not said already."""
    kind = subject.noun.kind if isinstance(subject.noun, Noun) else "person"
    return choose(
        random, [word for word in BY_KIND[kind] if word is not subject.adjective]
    )


def clause(
    random: Random,
    verb: Verb,
    gap: str = "",
    antecedent: NounPhrase | None = None,
    simple: bool = False,
) -> Clause:
    """A clause about the verb; within a relative clause, nothing is described.

    Args:
        gap, antecedent: as in `Clause`.
        simple: without a modal, a negation, and a description of its objects.
    """
    made = Clause(verb, gap=gap, antecedent=antecedent)
    if verb in lexicon.VERBS and not simple and chance(random, 0.2):
        made.modal = choose(random, MODALS)
    # "Must not" says "darf nicht", which is another verb.
    if made.modal is not lexicon.MUST and not simple:
        made.negated = chance(random, 0.18)
    if gap != "subject":
        add_subject(random, made, described=antecedent is None)
    add_objects(random, made, described=antecedent is None and not simple)
    return made


def event(random: Random) -> Clause:
    return clause(random, choose(random, EVENTS))


def two_events(random: Random) -> Statement:
    """One subject does two things.

    The first is simple, or "they can sing and call" could mean "and can call"; its
    objects are not described, or "and" could go on with their description.
    """
    main = clause(random, choose(random, lexicon.VERBS), simple=True)
    nouns = [phrase.noun for phrase in main.subject if isinstance(phrase.noun, Noun)]
    second = Clause(choose(random, lexicon.VERBS), main.subject)
    while second.verb is main.verb or not set(nouns) <= set(second.verb.subjects):
        second.verb = choose(random, lexicon.VERBS)
    add_objects(random, second, described=True)
    return Statement(main, second=second)


def grow(random: Random) -> Statement:
    """A whole sentence: a main clause alone, or with another clause or an adverb."""
    draw = random.random()
    if draw < 0.07:
        return two_events(random)
    if draw < 0.15:
        main = clause(random, choose(random, lexicon.CLAUSE_VERBS))
        return Statement(main, last=Subordinate(lexicon.THAT, event(random)))
    made = Statement(event(random))
    if draw < 0.25:
        made.front = Adverb(choose(random, lexicon.ADVERBS))
    elif draw < 0.31:
        made.front = place(random)
    elif draw < 0.35:
        conjunction = choose(random, (lexicon.WHEN, lexicon.IF))
        made.front = Subordinate(conjunction, event(random))
    elif draw < 0.41:
        conjunctions = (lexicon.BECAUSE, lexicon.BECAUSE, lexicon.WHEN, lexicon.IF)
        made.last = Subordinate(choose(random, conjunctions), event(random))
    return made
