"""The words of the built-in grammar, English beside German, and German endings.

A word has one translation here. Words whose German depends on what a sentence does not
say, such as "you" or "teacher", are left out.
"""

from dataclasses import dataclass
from typing import TypeAlias

NOMINATIVE, ACCUSATIVE, DATIVE = "nominative", "accusative", "dative"
PLURAL = 3  # the column after the three genders: the plural knows none

Endings: TypeAlias = dict[str, list[str]]


def table(nominative: str, accusative: str, dative: str) -> Endings:
    """Rows as in a school grammar: masculine, feminine, neuter, plural."""
    rows = (nominative.split(), accusative.split(), dative.split())
    return dict(zip((NOMINATIVE, ACCUSATIVE, DATIVE), rows, strict=True))


# A dash is no ending. An adjective says what the word before it leaves open: nothing
# after der and its kin (weak), the gender after ein and its kin (mixed), everything
# where none stands (strong).
DEFINITE = table("der die das die", "den die das die", "dem der dem den")
RELATIVE = table("der die das die", "den die das die", "dem der dem denen")
DER_ENDINGS = table("er e es e", "en e es e", "em er em en")
EIN_ENDINGS = table("- e - e", "en e - e", "em er em en")
WEAK = table("e e e en", "en e e en", "en en en en")
MIXED = table("er e es en", "en e es en", "en en en en")
STRONG = DER_ENDINGS


def inflect(stem: str, ending: str) -> str:
    """The stem with its ending: klein + er, müde + (e)r, ein + -."""
    if stem.endswith("e"):
        return stem + ending[1:]
    return stem + ending.strip("-")


@dataclass(frozen=True, eq=False)
class Noun:
    """English in both numbers, German with its article, and what it names.

    Args:
        oblique: German singular of accusative and dative, if not the nominative's.
    """

    singular: str
    plural: str
    german: str  # "der Hund"
    german_plural: str
    kind: str
    oblique: str = ""

    @property
    def gender(self) -> int:
        """The column in the tables of endings."""
        return ("der", "die", "das").index(self.german.split()[0])

    def german_form(self, case: str, plural: bool) -> str:
        """A dative plural ends in n, unless it is in n or s already."""
        if plural:
            bare = case != DATIVE or self.german_plural[-1] in "ns"
            return self.german_plural + ("" if bare else "n")
        return (case != NOMINATIVE and self.oblique) or self.german.split()[1]


NOUNS = (
    Noun("man", "men", "der Mann", "Männer", "person"),
    Noun("woman", "women", "die Frau", "Frauen", "person"),
    Noun("boy", "boys", "der Junge", "Jungen", "person", oblique="Jungen"),
    Noun("girl", "girls", "das Mädchen", "Mädchen", "person"),
    Noun("child", "children", "das Kind", "Kinder", "relation"),
    Noun("brother", "brothers", "der Bruder", "Brüder", "relation"),
    Noun("sister", "sisters", "die Schwester", "Schwestern", "relation"),
    Noun("dog", "dogs", "der Hund", "Hunde", "animal"),
    Noun("cat", "cats", "die Katze", "Katzen", "animal"),
    Noun("horse", "horses", "das Pferd", "Pferde", "animal"),
    Noun("bird", "birds", "der Vogel", "Vögel", "animal"),
    Noun("bear", "bears", "der Bär", "Bären", "animal", oblique="Bären"),
    Noun("book", "books", "das Buch", "Bücher", "text"),
    Noun("letter", "letters", "der Brief", "Briefe", "text"),
    Noun("apple", "apples", "der Apfel", "Äpfel", "thing"),
    Noun("flower", "flowers", "die Blume", "Blumen", "thing"),
    Noun("photo", "photos", "das Foto", "Fotos", "thing"),
    Noun("key", "keys", "der Schlüssel", "Schlüssel", "thing"),
    Noun("garden", "gardens", "der Garten", "Gärten", "room"),
    Noun("kitchen", "kitchens", "die Küche", "Küchen", "room"),
    Noun("house", "houses", "das Haus", "Häuser", "landmark"),
    Noun("tree", "trees", "der Baum", "Bäume", "landmark"),
    Noun("church", "churches", "die Kirche", "Kirchen", "landmark"),
)


def nouns(*kinds: str) -> tuple[Noun, ...]:
    return tuple(noun for noun in NOUNS if noun.kind in kinds)


PERSONS = nouns("person", "relation")
ANIMATE = nouns("person", "relation", "animal")
TEXTS = nouns("text")
THINGS = nouns("text", "thing")


@dataclass(frozen=True, eq=False)
class Pronoun:
    english: str
    german: str
    plural: bool


PRONOUNS = (
    Pronoun("he", "er", plural=False),
    Pronoun("she", "sie", plural=False),
    Pronoun("they", "sie", plural=True),
    Pronoun("we", "wir", plural=True),
)


@dataclass(frozen=True, eq=False)
class Determiner:
    """What opens a noun phrase. None: it has no such number.

    Args:
        endings: its own; None if it never changes.
        adjective: the endings of an adjective after it.
    """

    singular: str | None
    plural: str | None
    german: str
    endings: Endings | None
    adjective: Endings

    def english_form(self, plural: bool) -> str:
        form = self.plural if plural else self.singular
        assert form is not None
        return form

    def german_form(self, case: str, column: int) -> str:
        if self.endings is None:
            return self.german
        return inflect(self.german, self.endings[case][column])


THE = Determiner("the", "the", "", DEFINITE, WEAK)
THIS = Determiner("this", "these", "dies", DER_ENDINGS, WEAK)
MY = Determiner("my", "my", "mein", EIN_ENDINGS, MIXED)
A = Determiner("a", None, "ein", EIN_ENDINGS, MIXED)
NO = Determiner("no", None, "kein", EIN_ENDINGS, MIXED)
TWO = Determiner(None, "two", "zwei", None, STRONG)
BARE = Determiner(None, "", "", None, STRONG)


@dataclass(frozen=True, eq=False)
class Adjective:
    english: str
    german: str
    kinds: str  # of nouns that it may describe


EVERYTHING = "person relation animal text thing room landmark"
ADJECTIVES = (
    Adjective("old", "alt", "person relation animal room landmark"),
    Adjective("small", "klein", EVERYTHING),
    Adjective("clever", "klug", "person relation animal"),
    Adjective("tired", "müde", "person relation animal"),
    Adjective("new", "neu", "text thing room landmark"),
    Adjective("beautiful", "schön", "text thing room landmark"),
)


@dataclass(frozen=True, eq=False)
class Preposition:
    """English and German, of a place: all take the dative here."""

    english: str
    german: str
    nouns: tuple[Noun, ...]


PLACES = (
    Preposition("in", "in", nouns("room")),
    Preposition("behind", "hinter", nouns("landmark")),
    Preposition("in front of", "vor", nouns("landmark")),
)
WITH = Preposition("with", "mit", nouns("animal", "text", "thing"))
CONTRACTIONS = {("in", "dem"): "im"}


@dataclass(frozen=True, eq=False)
class Verb:
    """Both languages' present tense, and who takes part.

    Args:
        english, third: "pick up", "picks": the second word stands after either.
        german, german_third: "auf heben", "hebt": the particle and the plural, which
            together are the infinitive; and the third person singular.
        subjects, datives, accusatives: nouns for each place; none, no such object.
    """

    english: str
    third: str
    german: str
    german_third: str
    subjects: tuple[Noun, ...] = PERSONS
    datives: tuple[Noun, ...] = ()
    accusatives: tuple[Noun, ...] = ()

    @property
    def english_words(self) -> tuple[str, str]:
        first, _, second = self.english.partition(" ")
        return first, second

    @property
    def particle(self) -> str:
        return self.german.rpartition(" ")[0]

    def english_form(self, plural: bool) -> str:
        return self.english_words[0] if plural else self.third

    def german_form(self, plural: bool) -> str:
        return self.german.split()[-1] if plural else self.german_third


ALL = ANIMATE + THINGS
VERBS = (
    Verb("sing", "sings", "singen", "singt"),
    Verb("laugh", "laughs", "lachen", "lacht"),
    Verb("sleep", "sleeps", "schlafen", "schläft", ANIMATE),
    Verb("wake up", "wakes", "auf wachen", "wacht", ANIMATE),
    Verb("get up", "gets", "auf stehen", "steht", ANIMATE),
    Verb("run away", "runs", "weg laufen", "läuft", ANIMATE),
    Verb("buy", "buys", "kaufen", "kauft", accusatives=THINGS),
    Verb("read", "reads", "lesen", "liest", accusatives=TEXTS),
    Verb("find", "finds", "finden", "findet", accusatives=ALL),
    Verb("see", "sees", "sehen", "sieht", ANIMATE, accusatives=ALL),
    Verb("look for", "looks", "suchen", "sucht", ANIMATE, accusatives=ALL),
    Verb("love", "loves", "lieben", "liebt", ANIMATE, accusatives=ANIMATE),
    Verb("look at", "looks", "an sehen", "sieht", ANIMATE, accusatives=ANIMATE),
    Verb("call", "calls", "an rufen", "ruft", accusatives=PERSONS),
    Verb("invite", "invites", "ein laden", "lädt", accusatives=PERSONS),
    Verb("pick up", "picks", "auf heben", "hebt", accusatives=THINGS),
    Verb("follow", "follows", "folgen", "folgt", ANIMATE, datives=ANIMATE),
    Verb("help", "helps", "helfen", "hilft", datives=ANIMATE),
    Verb("thank", "thanks", "danken", "dankt", datives=PERSONS),
    Verb("listen to", "listens", "zu hören", "hört", datives=PERSONS),
    Verb("give", "gives", "geben", "gibt", datives=PERSONS, accusatives=THINGS),
    Verb("show", "shows", "zeigen", "zeigt", datives=PERSONS, accusatives=THINGS),
)
BE = Verb("are", "is", "sind", "ist", ALL)
CLAUSE_VERBS = (
    Verb("know", "knows", "wissen", "weiß"),
    Verb("say", "says", "sagen", "sagt"),
    Verb("hope", "hopes", "hoffen", "hofft"),
)
CAN = Verb("can", "can", "können", "kann")
MUST = Verb("must", "must", "müssen", "muss")
WANT = Verb("want to", "wants", "wollen", "will")
DO = Verb("do", "does", "", "")  # a negated English verb needs it
PARTICLES = ("up", "away")  # English second words that are no prepositions

THAT = ("that", "dass")
BECAUSE, WHEN, IF = ("because", "weil"), ("when", "wenn"), ("if", "wenn")
ADVERBS = (
    (("today", "heute"),),
    (("now", "jetzt"),),
    (("sometimes", "manchmal"),),
    (("every", "jeden"), ("day", "Tag")),
)
