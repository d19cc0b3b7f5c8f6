"""The built-in grammar: each word's forms, each rule's sentence, and what always holds.

The tables here were written by hand from German and English, not from the lexicon.
"""

import hashlib
import os
import subprocess
import sys
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated_transformer import grammar, lexicon, syntax
from annotated_transformer.english import english, english_noun_phrase
from annotated_transformer.german import german, german_noun_phrase
from annotated_transformer.lexicon import ACCUSATIVE, DATIVE, NOMINATIVE
from annotated_transformer.syntax import Adverb, Clause, NounPhrase, Place, Subordinate

CASES = (NOMINATIVE, ACCUSATIVE, DATIVE)

# English; German nominative, accusative and dative. Singular, then plural.
NOUNS = """
man men | der Mann, den Mann, dem Mann | die Männer, die Männer, den Männern
woman women | die Frau, die Frau, der Frau | die Frauen, die Frauen, den Frauen
boy boys | der Junge, den Jungen, dem Jungen | die Jungen, die Jungen, den Jungen
girl girls | das Mädchen, das Mädchen, dem Mädchen | die Mädchen, die Mädchen, den Mädchen
child children | das Kind, das Kind, dem Kind | die Kinder, die Kinder, den Kindern
brother brothers | der Bruder, den Bruder, dem Bruder | die Brüder, die Brüder, den Brüdern
sister sisters | die Schwester, die Schwester, der Schwester | die Schwestern, die Schwestern, den Schwestern
dog dogs | der Hund, den Hund, dem Hund | die Hunde, die Hunde, den Hunden
cat cats | die Katze, die Katze, der Katze | die Katzen, die Katzen, den Katzen
horse horses | das Pferd, das Pferd, dem Pferd | die Pferde, die Pferde, den Pferden
bird birds | der Vogel, den Vogel, dem Vogel | die Vögel, die Vögel, den Vögeln
bear bears | der Bär, den Bären, dem Bären | die Bären, die Bären, den Bären
book books | das Buch, das Buch, dem Buch | die Bücher, die Bücher, den Büchern
letter letters | der Brief, den Brief, dem Brief | die Briefe, die Briefe, den Briefen
apple apples | der Apfel, den Apfel, dem Apfel | die Äpfel, die Äpfel, den Äpfeln
flower flowers | die Blume, die Blume, der Blume | die Blumen, die Blumen, den Blumen
photo photos | das Foto, das Foto, dem Foto | die Fotos, die Fotos, den Fotos
key keys | der Schlüssel, den Schlüssel, dem Schlüssel | die Schlüssel, die Schlüssel, den Schlüsseln
garden gardens | der Garten, den Garten, dem Garten | die Gärten, die Gärten, den Gärten
kitchen kitchens | die Küche, die Küche, der Küche | die Küchen, die Küchen, den Küchen
house houses | das Haus, das Haus, dem Haus | die Häuser, die Häuser, den Häusern
tree trees | der Baum, den Baum, dem Baum | die Bäume, die Bäume, den Bäumen
church churches | die Kirche, die Kirche, der Kirche | die Kirchen, die Kirchen, den Kirchen
"""  # noqa: E501
NOUN_ROWS = [row.split(" | ") for row in NOUNS.strip().splitlines()]

# English plural and singular; German singular and plural in a main clause, singular and
# plural at the end of a subordinate clause, infinitive.
VERBS = """
sing, sings | singt, singen | singt, singen | singen
laugh, laughs | lacht, lachen | lacht, lachen | lachen
sleep, sleeps | schläft, schlafen | schläft, schlafen | schlafen
wake up, wakes up | wacht auf, wachen auf | aufwacht, aufwachen | aufwachen
get up, gets up | steht auf, stehen auf | aufsteht, aufstehen | aufstehen
run away, runs away | läuft weg, laufen weg | wegläuft, weglaufen | weglaufen
buy, buys | kauft, kaufen | kauft, kaufen | kaufen
read, reads | liest, lesen | liest, lesen | lesen
find, finds | findet, finden | findet, finden | finden
see, sees | sieht, sehen | sieht, sehen | sehen
look for, looks for | sucht, suchen | sucht, suchen | suchen
love, loves | liebt, lieben | liebt, lieben | lieben
look at, looks at | sieht an, sehen an | ansieht, ansehen | ansehen
call, calls | ruft an, rufen an | anruft, anrufen | anrufen
invite, invites | lädt ein, laden ein | einlädt, einladen | einladen
pick up, picks up | hebt auf, heben auf | aufhebt, aufheben | aufheben
follow, follows | folgt, folgen | folgt, folgen | folgen
help, helps | hilft, helfen | hilft, helfen | helfen
thank, thanks | dankt, danken | dankt, danken | danken
listen to, listens to | hört zu, hören zu | zuhört, zuhören | zuhören
give, gives | gibt, geben | gibt, geben | geben
show, shows | zeigt, zeigen | zeigt, zeigen | zeigen
know, knows | weiß, wissen | weiß, wissen | wissen
say, says | sagt, sagen | sagt, sagen | sagen
hope, hopes | hofft, hoffen | hofft, hoffen | hoffen
"""
VERB_ROWS = [
    [form.strip() for form in row.replace("|", ",").split(",")]
    for row in VERBS.strip().splitlines()
]
DATIVE_VERBS = {"follow", "help", "thank", "listen to"}
DATIVE_AND_ACCUSATIVE_VERBS = {"give", "show"}

# Each with "small" and dog, cat, horse, dogs: nominative, accusative, dative.
PHRASES = {
    "the": """
        der kleine Hund, den kleinen Hund, dem kleinen Hund
        die kleine Katze, die kleine Katze, der kleinen Katze
        das kleine Pferd, das kleine Pferd, dem kleinen Pferd
        die kleinen Hunde, die kleinen Hunde, den kleinen Hunden""",
    "this these": """
        dieser kleine Hund, diesen kleinen Hund, diesem kleinen Hund
        diese kleine Katze, diese kleine Katze, dieser kleinen Katze
        dieses kleine Pferd, dieses kleine Pferd, diesem kleinen Pferd
        diese kleinen Hunde, diese kleinen Hunde, diesen kleinen Hunden""",
    "my": """
        mein kleiner Hund, meinen kleinen Hund, meinem kleinen Hund
        meine kleine Katze, meine kleine Katze, meiner kleinen Katze
        mein kleines Pferd, mein kleines Pferd, meinem kleinen Pferd
        meine kleinen Hunde, meine kleinen Hunde, meinen kleinen Hunden""",
    "a -": """
        ein kleiner Hund, einen kleinen Hund, einem kleinen Hund
        eine kleine Katze, eine kleine Katze, einer kleinen Katze
        ein kleines Pferd, ein kleines Pferd, einem kleinen Pferd
        kleine Hunde, kleine Hunde, kleinen Hunden""",
    "no two": """
        kein kleiner Hund, keinen kleinen Hund, keinem kleinen Hund
        keine kleine Katze, keine kleine Katze, keiner kleinen Katze
        kein kleines Pferd, kein kleines Pferd, keinem kleinen Pferd
        zwei kleine Hunde, zwei kleine Hunde, zwei kleinen Hunden""",
}
ADJECTIVES = {
    "old": "alt alte alten alter altes",
    "small": "klein kleine kleinen kleiner kleines",
    "clever": "klug kluge klugen kluger kluges",
    "tired": "müde müde müden müder müdes",
    "new": "neu neue neuen neuer neues",
    "beautiful": "schön schöne schönen schöner schönes",
}


# A tree from English: what the grammar does the other way round.

DETERMINERS = {
    form: determiner
    for determiner in (
        lexicon.THE,
        lexicon.THIS,
        lexicon.MY,
        lexicon.A,
        lexicon.NO,
        lexicon.TWO,
    )
    for form in (determiner.singular, determiner.plural)
    if form
} | {"an": lexicon.A}
FORMS = {noun.singular: (noun, False) for noun in lexicon.NOUNS} | {
    noun.plural: (noun, True) for noun in lexicon.NOUNS
}
VERB = {
    verb.english: verb for verb in (*lexicon.VERBS, *lexicon.CLAUSE_VERBS, lexicon.BE)
}
MODAL = {verb.english: verb for verb in (lexicon.CAN, lexicon.MUST, lexicon.WANT)}


def np(text, place="", relative=None):
    """The phrase that "the small dogs" says; its verb and its place are given apart."""
    *before, noun = text.split()
    for pronoun in lexicon.PRONOUNS:
        if pronoun.english == text:
            return NounPhrase(pronoun, lexicon.BARE, pronoun.plural)
    made = NounPhrase(FORMS[noun][0], lexicon.BARE, FORMS[noun][1])
    for word in before:
        adjectives = [each for each in lexicon.ADJECTIVES if each.english == word]
        if adjectives:
            (made.adjective,) = adjectives
        else:
            made.determiner = DETERMINERS[word]
    if place:
        made.place = at(place)
    if relative:
        made.relative, relative.antecedent = relative, made
    return made


def at(text):
    """The place that "behind the house" says."""
    # "in front of" before "in"
    for preposition in (*lexicon.PLACES[::-1], lexicon.WITH):
        if text.startswith(preposition.english + " "):
            return Place(preposition, np(text.removeprefix(preposition.english + " ")))
    raise ValueError(text)


def phrase(given):
    """A phrase of the tree: from one, or from text such as "the man and the dog"."""
    if isinstance(given, NounPhrase):
        return (given,)
    return tuple(np(text) for text in given.split(" and ") if text)


def clause(subject, verb, accusative="", dative="", modal="", is_="", **rest):
    predicate = next((a for a in lexicon.ADJECTIVES if a.english == is_), None)
    return Clause(
        VERB[verb],
        subject=phrase(subject),
        dative=phrase(dative),
        accusative=phrase(accusative),
        modal=MODAL[modal] if modal else None,
        predicate=predicate,
        **rest,
    )


def s(*main, front=None, last=None, second=None, **rest):
    return syntax.Statement(clause(*main, **rest), front, second, last)


def that(*args, **rest):
    return Subordinate(("that", "dass"), clause(*args, **rest))


def because(*args, **rest):
    return Subordinate(("because", "weil"), clause(*args, **rest))


def when(*args, **rest):
    return Subordinate(("when", "wenn"), clause(*args, **rest))


def if_(*args, **rest):
    return Subordinate(("if", "wenn"), clause(*args, **rest))


def who(verb, *args, **rest):
    """A relative clause whose pronoun is its subject."""
    return clause("", verb, *args, gap="subject", **rest)


def whom(subject, verb, gap="accusative", **rest):
    """A relative clause whose pronoun is an object."""
    return clause(subject, verb, gap=gap, **rest)


MAN = np("the man", place="behind the house")
TODAY, EVERY_DAY = Adverb((("today", "heute"),)), Adverb(lexicon.ADVERBS[3])
EXAMPLES = {
    # Order, number, case.
    "intransitive": (
        s("the dog", "sleep"),
        "The dog sleeps.",
        "Der Hund schläft.",
    ),
    "plural": (s("the dogs", "sleep"), "The dogs sleep.", "Die Hunde schlafen."),
    "pronoun he": (s("he", "sing"), "He sings.", "Er singt."),
    "pronoun she": (s("she", "sing"), "She sings.", "Sie singt."),
    "pronoun they": (s("they", "sing"), "They sing.", "Sie singen."),
    "pronoun we": (
        s("we", "read", "this book"),
        "We read this book.",
        "Wir lesen dieses Buch.",
    ),
    "accusative masculine": (
        s("the woman", "see", "the dog"),
        "The woman sees the dog.",
        "Die Frau sieht den Hund.",
    ),
    "accusative feminine, neuter": (
        s("a child", "find", "the cat and a horse"),
        "A child finds the cat and a horse.",
        "Ein Kind findet die Katze und ein Pferd.",
    ),
    "weak noun": (
        s("a boy", "look for", "the boy and a bear"),
        "A boy looks for the boy and a bear.",
        "Ein Junge sucht den Jungen und einen Bären.",
    ),
    "dative verb": (
        s("the sister", "help", dative="the man and the women"),
        "The sister helps the man and the women.",
        "Die Schwester hilft dem Mann und den Frauen.",
    ),
    "dative of a weak noun, of a plural in -s": (
        s(np("the men", place="with photos"), "thank", dative="a boy"),
        "The men with photos thank a boy.",
        "Die Männer mit Fotos danken einem Jungen.",
    ),
    "dative plural": (
        s("two birds", "follow", dative="two old horses"),
        "Two birds follow two old horses.",
        "Zwei Vögel folgen zwei alten Pferden.",
    ),
    "dative before accusative": (
        s("the man", "give", "a new key", dative="the clever girl"),
        "The man gives the clever girl a new key.",
        "Der Mann gibt dem klugen Mädchen einen neuen Schlüssel.",
    ),
    "an, and a before a consonant": (
        s("an old woman", "buy", "an apple and a beautiful apple"),
        "An old woman buys an apple and a beautiful apple.",
        "Eine alte Frau kauft einen Apfel und einen schönen Apfel.",
    ),
    # Determiners and adjectives.
    "weak after this": (
        s("these tired children", "look for", "this small bird"),
        "These tired children look for this small bird.",
        "Diese müden Kinder suchen diesen kleinen Vogel.",
    ),
    "mixed after my": (
        s("my tired horse", "see", "my small sisters"),
        "My tired horse sees my small sisters.",
        "Mein müdes Pferd sieht meine kleinen Schwestern.",
    ),
    "strong without an article": (
        s("clever women", "read", "new letters"),
        "Clever women read new letters.",
        "Kluge Frauen lesen neue Briefe.",
    ),
    "no": (
        s("no old man", "laugh"),
        "No old man laughs.",
        "Kein alter Mann lacht.",
    ),
    "predicate": (
        s("the small keys", "are", is_="beautiful"),
        "The small keys are beautiful.",
        "Die kleinen Schlüssel sind schön.",
    ),
    "predicate negated": (
        s("the girl", "are", is_="tired", negated=True),
        "The girl is not tired.",
        "Das Mädchen ist nicht müde.",
    ),
    # Prepositions.
    "contraction": (
        s(np("the bear", place="in the garden"), "sleep"),
        "The bear in the garden sleeps.",
        "Der Bär im Garten schläft.",
    ),
    "contraction before an adjective": (
        s(np("the bear", place="in the old garden"), "sleep"),
        "The bear in the old garden sleeps.",
        "Der Bär im alten Garten schläft.",
    ),
    "no contraction": (
        s(np("the bear", place="in a kitchen"), "see", np("a man", "in the kitchen")),
        "The bear in a kitchen sees a man in the kitchen.",
        "Der Bär in einer Küche sieht einen Mann in der Küche.",
    ),
    "dative plural after a preposition": (
        s(np("the child", place="behind the trees"), "laugh"),
        "The child behind the trees laughs.",
        "Das Kind hinter den Bäumen lacht.",
    ),
    "with": (
        s(np("the women", place="with a small cat"), "laugh"),
        "The women with a small cat laugh.",
        "Die Frauen mit einer kleinen Katze lachen.",
    ),
    # The verb comes second.
    "inversion after an adverb": (
        s("the cat", "see", "the bird", front=TODAY),
        "Today the cat sees the bird.",
        "Heute sieht die Katze den Vogel.",
    ),
    "inversion after two words": (
        s("they", "invite", "the man", front=EVERY_DAY),
        "Every day they invite the man.",
        "Jeden Tag laden sie den Mann ein.",
    ),
    "inversion after a place": (
        s("two boys", "laugh", front=at("in front of the church")),
        "In front of the church two boys laugh.",
        "Vor der Kirche lachen zwei Jungen.",
    ),
    "inversion after a clause": (
        s("the dog", "run away", front=if_("the horses", "wake up")),
        "If the horses wake up, the dog runs away.",
        "Wenn die Pferde aufwachen, läuft der Hund weg.",
    ),
    # Separable verbs.
    "particle at the end": (
        s("the sister", "call", "the old man"),
        "The sister calls the old man.",
        "Die Schwester ruft den alten Mann an.",
    ),
    "particle and dative": (
        s("we", "listen to", dative="the children"),
        "We listen to the children.",
        "Wir hören den Kindern zu.",
    ),
    "particle after nicht": (
        s("the boy", "pick up", "the apples", negated=True),
        "The boy does not pick up the apples.",
        "Der Junge hebt die Äpfel nicht auf.",
    ),
    "particle attached": (
        s("the man", "sing", last=because("he", "get up")),
        "The man sings because he gets up.",
        "Der Mann singt, weil er aufsteht.",
    ),
    # Negation.
    "do-support": (
        s("the dogs", "sleep", negated=True),
        "The dogs do not sleep.",
        "Die Hunde schlafen nicht.",
    ),
    "nicht after a definite object": (
        s("the man", "help", dative="my brother", negated=True),
        "The man does not help my brother.",
        "Der Mann hilft meinem Bruder nicht.",
    ),
    "kein for ein": (
        s("the man", "see", "a small dog", negated=True),
        "The man does not see a small dog.",
        "Der Mann sieht keinen kleinen Hund.",
    ),
    "kein for no article": (
        s("the women", "buy", "new letters", negated=True),
        "The women do not buy new letters.",
        "Die Frauen kaufen keine neuen Briefe.",
    ),
    "kein with two objects": (
        s("he", "show", "a photo", dative="the woman", negated=True),
        "He does not show the woman a photo.",
        "Er zeigt der Frau kein Foto.",
    ),
    "nicht after an inversion": (
        s("the cat", "love", "the dog", negated=True, front=TODAY),
        "Today the cat does not love the dog.",
        "Heute liebt die Katze den Hund nicht.",
    ),
    # Modals.
    "modal": (
        s("the child", "read", "the book", modal="can"),
        "The child can read the book.",
        "Das Kind kann das Buch lesen.",
    ),
    "modal with a particle": (
        s("the children", "wake up", modal="must"),
        "The children must wake up.",
        "Die Kinder müssen aufwachen.",
    ),
    "want to": (
        s("she", "call", "the sister", modal="want to"),
        "She wants to call the sister.",
        "Sie will die Schwester anrufen.",
    ),
    "want to negated": (
        s("they", "look at", "the bear", modal="want to", negated=True),
        "They do not want to look at the bear.",
        "Sie wollen den Bären nicht ansehen.",
    ),
    "cannot": (
        s("we", "find", "a key", modal="can", negated=True),
        "We cannot find a key.",
        "Wir können keinen Schlüssel finden.",
    ),
    # Subordinate clauses.
    "dass": (
        s("the woman", "know", last=that("the dog", "see", "the cat")),
        "The woman knows that the dog sees the cat.",
        "Die Frau weiß, dass der Hund die Katze sieht.",
    ),
    "dass after nicht": (
        s("the boys", "hope", negated=True, last=that("he", "are", is_="old")),
        "The boys do not hope that he is old.",
        "Die Jungen hoffen nicht, dass er alt ist.",
    ),
    "modal at the very end": (
        s(
            "we",
            "laugh",
            last=because("the men", "invite", "the girl", modal="must"),
        ),
        "We laugh because the men must invite the girl.",
        "Wir lachen, weil die Männer das Mädchen einladen müssen.",
    ),
    "nicht in a final clause": (
        s("we", "laugh", last=when("he", "listen to", dative="the man", negated=True)),
        "We laugh when he does not listen to the man.",
        "Wir lachen, wenn er dem Mann nicht zuhört.",
    ),
    # Relative clauses.
    "relative, nominative": (
        s(np("the man", relative=who("call", "the boy")), "laugh"),
        "The man who calls the boy laughs.",
        "Der Mann, der den Jungen anruft, lacht.",
    ),
    "relative, neuter girl": (
        s(np("a girl", relative=who("sing")), "laugh"),
        "A girl who sings laughs.",
        "Ein Mädchen, das singt, lacht.",
    ),
    "relative, accusative": (
        s(np("the bear", relative=whom("the cats", "see")), "sleep"),
        "The bear that the cats see sleeps.",
        "Der Bär, den die Katzen sehen, schläft.",
    ),
    "relative, dative masculine": (
        s(np("the man", relative=whom("she", "help", "dative")), "get up"),
        "The man that she helps gets up.",
        "Der Mann, dem sie hilft, steht auf.",
    ),
    "relative, dative feminine": (
        s(np("the cat", relative=whom("the dogs", "follow", "dative")), "run away"),
        "The cat that the dogs follow runs away.",
        "Die Katze, der die Hunde folgen, läuft weg.",
    ),
    "relative, dative plural": (
        s(np("two men", relative=whom("no boy", "thank", "dative")), "get up"),
        "Two men that no boy thanks get up.",
        "Zwei Männer, denen kein Junge dankt, stehen auf.",
    ),
    "relative of a thing": (
        s(np("the book", relative=who("are", is_="new")), "are", is_="beautiful"),
        "The book that is new is beautiful.",
        "Das Buch, das neu ist, ist schön.",
    ),
    "relative of an object follows the particle": (
        s("she", "call", np("the boy", relative=who("find", "the keys"))),
        "She calls the boy who finds the keys.",
        "Sie ruft den Jungen an, der die Schlüssel findet.",
    ),
    "relative of an object follows nicht and the infinitive": (
        s(
            "he",
            "read",
            np("the letter", relative=whom("she", "give", dative="the man")),
            modal="can",
            negated=True,
        ),
        "He cannot read the letter that she gives the man.",
        "Er kann den Brief nicht lesen, den sie dem Mann gibt.",
    ),
    "relative within a clause: one comma": (
        s(
            "we",
            "hope",
            last=that("they", "find", np("the dog", relative=who("sleep"))),
        ),
        "We hope that they find the dog that sleeps.",
        "Wir hoffen, dass sie den Hund finden, der schläft.",
    ),
    "relative at the end of a fronted clause": (
        s(
            "he",
            "sing",
            front=when("they", "help", dative=np("a child", relative=who("sleep"))),
        ),
        "When they help a child who sleeps, he sings.",
        "Wenn sie einem Kind helfen, das schläft, singt er.",
    ),
    "relative of an inverted subject": (
        s(np("the man", relative=who("sing")), "call", "the girl", front=TODAY),
        "Today the man who sings calls the girl.",
        "Heute ruft der Mann, der singt, das Mädchen an.",
    ),
    # Coordination.
    "two singulars are a plural": (
        s("the man and the woman", "sleep"),
        "The man and the woman sleep.",
        "Der Mann und die Frau schlafen.",
    ),
    "coordination in the relative clause": (
        s(
            np("the key", relative=whom("the boy and my child", "find")),
            "are",
            is_="new",
        ),
        "The key that the boy and my child find is new.",
        "Der Schlüssel, den der Junge und mein Kind finden, ist neu.",
    ),
    "one subject, two verbs": (
        s(MAN, "sing", second=clause(MAN, "call", "the boy")),
        "The man behind the house sings and calls the boy.",
        "Der Mann hinter dem Haus singt und ruft den Jungen an.",
    ),
    # Agreement over a distance, past nouns of the other number.
    "past a place": (
        s(np("the dog", place="in front of the houses"), "see", "the cats"),
        "The dog in front of the houses sees the cats.",
        "Der Hund vor den Häusern sieht die Katzen.",
    ),
    "past a relative clause": (
        s(np("the dogs", relative=whom("the old man", "look for")), "run away"),
        "The dogs that the old man looks for run away.",
        "Die Hunde, die der alte Mann sucht, laufen weg.",
    ),
}


def words(tagged):
    return [form for form, _ in tagged]


@pytest.mark.parametrize(
    ("tree", "source", "target"), EXAMPLES.values(), ids=list(EXAMPLES)
)
def test_each_rule_gives_the_sentence_written_by_hand(tree, source, target):
    assert grammar.text(grammar.spell(english(tree))) == source
    assert grammar.text(grammar.spell(german(tree))) == target


@pytest.mark.parametrize("row", NOUN_ROWS, ids=[row[0] for row in NOUN_ROWS])
def test_each_noun_has_its_gender_its_plural_and_its_cases(row):
    forms, *numbers = row
    for form, plural, expected in zip(
        forms.split(), (False, True), numbers, strict=True
    ):
        noun, number = FORMS[form]
        assert number == plural
        phrases = NounPhrase(noun, lexicon.THE, plural)
        said = [" ".join(words(german_noun_phrase(phrases, case))) for case in CASES]
        assert said == expected.split(", ")


@pytest.mark.parametrize("row", VERB_ROWS, ids=[row[0] for row in VERB_ROWS])
def test_each_verb_has_its_forms_and_its_particle(row):
    plural, singular, one, many, one_last, many_last, infinitive = row
    verb = VERB[plural]
    for subject, english_form, main, last in (
        ("they", plural, many, many_last),
        ("he", singular, one, one_last),
    ):
        said = Clause(verb, phrase(subject))
        tree = syntax.Statement(said, last=Subordinate(("that", "dass"), said))
        expected = f"{subject} {english_form}"
        assert words(english(tree)) == [*f"{expected} that {expected} .".split()]
        pronoun = {"they": "sie", "he": "er"}[subject]
        assert (
            words(german(tree)) == f"{pronoun} {main} , dass {pronoun} {last} .".split()
        )
    must = syntax.Statement(Clause(verb, phrase("they"), modal=lexicon.MUST))
    assert words(german(must)) == ["sie", "müssen", infinitive, "."]


@pytest.mark.parametrize("determiner", PHRASES)
def test_determiner_and_adjective_agree_with_the_noun(determiner):
    singular, _, plural = determiner.partition(" ")
    plural = {"": singular, "-": ""}.get(plural, plural)
    phrases = [f"{singular} small {noun}" for noun in ("dog", "cat", "horse")]
    phrases.append(f"{plural} small dogs")
    for text, row in zip(phrases, PHRASES[determiner].strip().split("\n"), strict=True):
        said = [" ".join(words(german_noun_phrase(np(text), case))) for case in CASES]
        assert said == row.strip().split(", ")


def test_the_tables_here_hold_every_word_of_the_lexicon():
    verbs = (*lexicon.VERBS, *lexicon.CLAUSE_VERBS)
    assert {row[0].split()[0] for row in NOUN_ROWS} == {
        noun.singular for noun in lexicon.NOUNS
    }
    assert {row[0] for row in VERB_ROWS} == {verb.english for verb in verbs}
    assert set(ADJECTIVES) == {word.english for word in lexicon.ADJECTIVES}
    both = {verb.english for verb in verbs if verb.datives and verb.accusatives}
    assert both == DATIVE_AND_ACCUSATIVE_VERBS
    assert {verb.english for verb in verbs if verb.datives} - both == DATIVE_VERBS


def test_each_adjective_has_its_forms():
    for word in lexicon.ADJECTIVES:
        endings = ("-", "e", "en", "er", "es")
        said = [lexicon.inflect(word.german, ending) for ending in endings]
        assert said == ADJECTIVES[word.english].split()


# What holds for every sentence.

GENDER_OF = {}  # German noun form -> the genders and numbers that it can have
for _, *numbers in NOUN_ROWS:
    gender = numbers[0].split()[0]
    for kind, forms in zip((gender, "plural"), numbers, strict=True):
        for form in forms.split(", "):
            GENDER_OF.setdefault(form.split()[1], set()).add(kind)
DETERMINERS_OF = {
    "der": "der den dem dieser diesen diesem im",
    "die": "die der diese dieser",
    "das": "das dem dieses diesem im",
    "plural": "die den diese diesen zwei",
}
EIN_OF = {
    "der": "- en em",
    "die": "e er",
    "das": "- em",
    "plural": "e en",
}
for kind, endings in EIN_OF.items():
    for stem, ending in product(("ein", "mein", "kein"), endings.split()):
        if (stem, kind) != ("ein", "plural"):
            DETERMINERS_OF[kind] += " " + stem + ending.strip("-")
PARTICLES = {"auf", "weg", "an", "zu"}  # words of their own; "ein" is an article too
RELATIVES_OF = {
    "der": {"der", "den", "dem"},
    "die": {"die", "der"},
    "das": {"das", "dem"},
    "plural": {"die", "denen"},
}
SINGULAR_VERBS = {form for row in VERB_ROWS for form in (row[2].split()[0], row[4])}
SINGULAR_VERBS |= {"kann", "muss", "will", "ist"}
PLURAL_VERBS = {form for row in VERB_ROWS for form in (row[3].split()[0], row[5])}
PLURAL_VERBS |= {"können", "müssen", "wollen", "sind"}
ENGLISH_SINGULAR = {row[1].split()[0] for row in VERB_ROWS} | {"does", "is", "wants"}
ENGLISH_PLURAL = {row[0].split()[0] for row in VERB_ROWS} | {"do", "are", "want"}
ENGLISH_NOUNS = {
    form: row[0].split()[1] == form for row in NOUN_ROWS for form in row[0].split()
}
PRONOUNS = {"he": False, "she": False, "they": True, "we": True}

SENTENCES = st.builds(
    lambda seed, split: grammar.sentences(10, seed, split),
    seed=st.integers(0, 10**6),
    split=st.sampled_from(sorted(grammar.SPLITS)),
)


def linked(sentence, side, kind):
    """The pairs of positions, head first, that have this kind of link."""
    return [link[2:] for link in sentence.links if link[:2] == (kind, side)]


def lower(form):
    """A word as it stands inside a sentence; German nouns keep their capital."""
    return form if form in GENDER_OF else form[0].lower() + form[1:]


def number_of(sentence, side, position):
    """Whether the noun, pronoun or relative pronoun at a position is a plural."""
    antecedents = {
        dependent: head
        for head, dependent in linked(sentence, side, "relative-antecedent")
    }
    position = antecedents.get(position, position)
    if side == "target":  # many German forms have both numbers, so ask the English
        (position,) = (i for i, j in sentence.alignment if j == position)
    form = lower(sentence.source[position])
    return ENGLISH_NOUNS[form] if form in ENGLISH_NOUNS else PRONOUNS[form]


@given(SENTENCES)
def test_every_word_has_a_partner_and_only_commas_may_have_none(sentences):
    for sentence in sentences:
        sources, targets = map(set, zip(*sentence.alignment, strict=True))
        assert sources == set(range(len(sentence.source)))
        lonely = set(range(len(sentence.target))) - targets
        assert {sentence.target[j] for j in lonely} <= {","}


@given(SENTENCES)
def test_aligned_nouns_and_verbs_translate_each_other(sentences):
    nouns = {}
    for english_forms, *numbers in NOUN_ROWS:
        for form, forms in zip(english_forms.split(), numbers, strict=True):
            nouns[form] = {each.split()[1] for each in forms.split(", ")}
    for sentence in sentences:
        for i, word in enumerate(sentence.source):
            partners = {sentence.target[j] for k, j in sentence.alignment if k == i}
            if lower(word) in nouns:
                assert len(partners) == 1
                assert partners <= nouns[lower(word)]
        said = [lower(word) for word in sentence.source]
        for plural, singular, *forms in VERB_ROWS:
            for text in {plural, singular}:
                first, *second = text.split()
                for i in range(len(said)):
                    if said[i : i + len(second) + 1] == [first, *second]:
                        places = {
                            j
                            for k, j in sentence.alignment
                            if i <= k <= i + len(second)
                        }
                        found = " ".join(
                            lower(sentence.target[j]) for j in sorted(places)
                        )
                        assert found in forms


@given(SENTENCES)
def test_every_finite_verb_has_the_number_of_its_subject(sentences):
    verbs = {"source": (ENGLISH_SINGULAR, ENGLISH_PLURAL)}
    verbs["target"] = (SINGULAR_VERBS, PLURAL_VERBS)
    for sentence in sentences:
        for side, (singular, plural) in verbs.items():
            subjects = {}
            for head, dependent in linked(sentence, side, "subject-verb"):
                subjects.setdefault(head, []).append(dependent)
            assert subjects
            for head, dependents in subjects.items():
                many = len(dependents) > 1 or number_of(sentence, side, dependents[0])
                form = lower(getattr(sentence, side)[head])
                if form in ("can", "cannot", "must"):
                    continue
                assert form in (plural if many else singular)


@given(SENTENCES)
def test_every_relative_pronoun_has_the_gender_of_its_antecedent(sentences):
    for sentence in sentences:
        for head, dependent in linked(sentence, "target", "relative-antecedent"):
            noun, pronoun = sentence.target[head], sentence.target[dependent]
            plural = number_of(sentence, "target", head)
            (kind,) = (k for k in GENDER_OF[noun] if (k == "plural") == plural)
            assert pronoun in RELATIVES_OF[kind]
            assert sentence.target[dependent - 1] == ","
        for head, dependent in linked(sentence, "source", "relative-antecedent"):
            assert dependent == head + 1
            assert sentence.source[dependent] in ("who", "that")


@given(SENTENCES)
def test_every_article_and_adjective_has_the_gender_and_number_of_its_noun(sentences):
    for sentence in sentences:
        for head, dependent in linked(sentence, "target", "article-noun"):
            plural = number_of(sentence, "target", head)
            noun = sentence.target[head]
            (kind,) = (k for k in GENDER_OF[noun] if (k == "plural") == plural)
            assert lower(sentence.target[dependent]) in DETERMINERS_OF[kind].split()
        for side in ("source", "target"):
            nouns = {head for head, _ in linked(sentence, side, "article-noun")}
            for head, dependent in linked(sentence, side, "adjective-noun"):
                assert dependent == head - 1
                assert lower(getattr(sentence, side)[head]) in (
                    *ENGLISH_NOUNS,
                    *GENDER_OF,
                )
            assert len(nouns) == len(linked(sentence, side, "article-noun"))
        for _, dependent in linked(sentence, "source", "article-noun"):
            article, after = sentence.source[dependent], sentence.source[dependent + 1]
            if lower(article) in ("a", "an"):
                assert (lower(article) == "an") == (after[0] in "aeiou")


@given(SENTENCES)
def test_every_particle_belongs_to_a_verb_that_has_it(sentences):
    separable = {form for row in VERB_ROWS for form in row[2:4] if " " in form}
    for sentence in sentences:
        pairs = linked(sentence, "target", "verb-particle")
        said = [tuple(lower(sentence.target[i]) for i in pair) for pair in pairs]
        assert {" ".join(pair) for pair in said} <= separable
        loose = [j for j, form in enumerate(sentence.target) if form in PARTICLES]
        assert {dependent for _, dependent in pairs} >= set(loose)
        for head, dependent in linked(sentence, "source", "verb-particle"):
            assert dependent == head + 1
            assert sentence.source[dependent] in ("up", "away")


@given(SENTENCES)
def test_text_is_written_as_in_a_book(sentences):
    for sentence in sentences:
        for text in (sentence.source_text, sentence.target_text):
            assert text[0].isupper() and text.endswith(".")
            assert " ," not in text and " ." not in text and "  " not in text
            assert ",," not in text and ",." not in text
        inside = sentence.target[1:]
        assert all(w[0].isupper() == (w in GENDER_OF or w == "Tag") for w in inside)
        assert max(len(sentence.source), len(sentence.target)) <= 18


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_splits_share_no_sentence_and_repeat_none(seed):
    texts = {
        split: [each.source_text for each in grammar.sentences(300, seed, split)]
        for split in ("train", "development", "test")
    }
    assert all(len(set(made)) == 300 for made in texts.values())
    assert len(set().union(*texts.values())) == 900


def test_splits_stay_apart_from_one_seed_to_another():
    train = {each.source for each in grammar.sentences(5_000, seed=1)}
    test = {each.source for each in grammar.sentences(1_000, seed=2, split="test")}
    assert not train & test


def test_a_sentence_has_one_translation():
    random, translations = Random(7), {}
    for _ in range(30_000):
        tree = syntax.grow(random)
        source, target = tuple(words(english(tree))), tuple(words(german(tree)))
        assert translations.setdefault(source, target) == target


def test_a_longer_list_starts_with_the_shorter_one():
    assert grammar.sentences(80, seed=5)[:30] == grammar.sentences(30, seed=5)
    assert grammar.sentences(30, seed=5) != grammar.sentences(30, seed=6)


CHECKSUM = """
import hashlib
from annotated_transformer import grammar
made = grammar.sentences(300, seed=3, split="test")
lines = [repr((s.source, s.target, sorted(s.alignment), s.links)) for s in made]
print(hashlib.sha256("".join(lines).encode("utf-8")).hexdigest())
"""


def test_another_process_with_another_hash_seed_makes_the_same_sentences():
    made = grammar.sentences(300, seed=3, split="test")
    lines = [repr((s.source, s.target, sorted(s.alignment), s.links)) for s in made]
    here = hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", CHECKSUM],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        )
        assert there.stdout.strip() == here


def test_there_are_more_than_a_billion_sentences():
    """Four phrases, drawn apart, make "NP sees NP because NP sees NP" of 16 words."""
    random, phrases = Random(0), set()
    for _ in range(10_000):
        drawn = syntax.noun_phrase(random, lexicon.ANIMATE, syntax.DEFINITE)
        phrases.add(" ".join(words(english_noun_phrase(drawn))))
    assert max(len(each.split()) for each in phrases) == 3
    assert not any("sees" in each or "because" in each for each in phrases)
    assert len(phrases) ** 4 >= 10**9


def test_every_word_of_the_lexicon_is_said_in_a_few_thousand_sentences():
    made = grammar.sentences(5_000, seed=0)
    said = {lower(word) for sentence in made for word in sentence.source}
    assert said >= set(ENGLISH_NOUNS) | set(ADJECTIVES) | set(PRONOUNS)
    assert said >= {
        form for row in VERB_ROWS for text in row[:2] for form in text.split()
    }
    assert len(said) < 150
    german_words = {lower(word) for sentence in made for word in sentence.target}
    assert german_words >= set(GENDER_OF) - {"Häuser", "Bäume"}  # always in the dative
    assert len(german_words) < 210


@pytest.mark.parametrize(
    ("distance", "side"), [(1, "source"), (3, "source"), (8, "source"), (10, "target")]
)
def test_sentences_at_a_distance_have_their_verb_that_far_from_its_subject(
    distance, side
):
    made = grammar.sentences_at(distance, 5, seed=1, side=side)
    assert len({each.source for each in made}) == 5
    for sentence in made:
        gaps = [abs(a - b) for a, b in linked(sentence, side, "subject-verb")]
        assert max(gaps) == distance == sentence.agreement_distance(side)


def test_every_distance_on_offer_is_found():
    made = grammar.sentences(20_000, seed=4, split="train")
    for side, distances in grammar.DISTANCES.items():
        found = {sentence.agreement_distance(side) for sentence in made}
        assert found >= set(distances)


def test_corpus_holds_what_sentences_gives():
    made = grammar.corpus(train=40, development=20, test=10, seed=9)
    assert (made.name, made.source, made.target) == ("grammar", "en", "de")
    expected = grammar.sentences(40, seed=9)
    assert made.train == [(each.source_text, each.target_text) for each in expected]
    assert list(made.sets) == ["development", "test"]
    assert made.development is made.sets["development"]
    for split, count in (("development", 20), ("test", 10)):
        made_apart = grammar.sentences(count, seed=9, split=split)
        pairs = [(each.source_text, each.target_text) for each in made_apart]
        assert made.sets[split].pairs() == pairs


def test_a_wrong_split_side_or_distance_is_named():
    with pytest.raises(ValueError, match="must be one of development, test, train"):
        grammar.sentences(1, split="dev")
    with pytest.raises(ValueError, match="distance=2 is too rare"):
        grammar.sentences_at(2, 1)
    with pytest.raises(ValueError, match="must be one of source, target"):
        grammar.sentences_at(1, 1, side="english")
