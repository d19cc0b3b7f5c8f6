"""How German says a tree: gender, case, endings, and where its verbs stand."""

from annotated_transformer import lexicon
from annotated_transformer.lexicon import ACCUSATIVE, DATIVE, NOMINATIVE, Noun, Pronoun
from annotated_transformer.syntax import (
    Adverb,
    Clause,
    Concept,
    NounPhrase,
    Phrase,
    Place,
    Statement,
    Subordinate,
    Word,
    say,
)


def german_noun_phrase(
    phrase: NounPhrase, case: str, negation: tuple[Concept, ...] = ()
) -> list[Word]:
    """The phrase without its relative clause, which may come later.

    Args:
        negation: "not", if this phrase has to say it: "ein" is "kein" then.
    """
    noun, determiner = phrase.noun, phrase.determiner
    if isinstance(noun, Pronoun):
        return say(noun.german, (phrase, "noun"))
    column = lexicon.PLURAL if phrase.plural else noun.gender
    if negation:
        determiner = lexicon.NO
    words = say(determiner.german_form(case, column), (phrase, "determiner"), *negation)
    if phrase.adjective:
        ending = determiner.adjective[case][column]
        form = lexicon.inflect(phrase.adjective.german, ending)
        words += say(form, (phrase, "adjective"))
    words += say(noun.german_form(case, phrase.plural), (phrase, "noun"))
    if phrase.place:
        words += german_place(phrase.place)
    return words


def german_phrase(
    phrases: Phrase, case: str, negation: tuple[Concept, ...] = ()
) -> list[Word]:
    words: list[Word] = []
    for phrase in phrases:
        if words:
            words += say("und", (phrase, "and"))
        words += german_noun_phrase(phrase, case, negation)
    return words


def german_relative(phrases: Phrase) -> list[Word]:
    """The relative clauses of phrases that were said before, each between commas."""
    words: list[Word] = []
    for phrase in phrases:
        if phrase.relative:
            words += [*say(","), *german_final(phrase.relative), *say(",")]
    return words


def german_place(place: Place) -> list[Word]:
    preposition, concept = place.preposition.german, (place, "preposition")
    phrase = german_noun_phrase(place.phrase, DATIVE)
    article, concepts = phrase[0]
    if (preposition, article) in lexicon.CONTRACTIONS:
        short = lexicon.CONTRACTIONS[preposition, article]
        return say(short, concept, *concepts) + phrase[1:]
    return say(preposition, concept) + phrase


def german_verb(clause: Clause, final: bool) -> tuple[list[Word], list[Word]]:
    """The finite verb, and what ends the clause: an infinitive or a particle."""
    finite, verb = (clause, "finite"), (clause, "verb")
    ending = (clause, "particle"), (clause, "preposition")
    particle, form = clause.verb.particle, clause.verb.german_form(clause.plural)
    if clause.modal:
        modal = clause.modal.german_form(clause.plural)
        infinitive = particle + clause.verb.german_form(plural=True)
        return say(modal, finite, (clause, "modal")), say(infinitive, verb, *ending)
    if final or not particle:
        return say(particle + form, finite, verb, *ending), []
    return say(form, finite, verb), say(particle, *ending)


def german_middle(clause: Clause) -> list[Word]:
    """What stands between the finite verb and the end: objects, nicht, a predicate."""
    negation: tuple[Concept, ...] = ((clause, "not"),) if clause.negated else ()
    objects = clause.accusative
    indefinite = bool(objects) and objects[0].determiner in (lexicon.A, lexicon.BARE)
    words = german_phrase(clause.dative, DATIVE)
    words += german_phrase(objects, ACCUSATIVE, negation if indefinite else ())
    if negation and not indefinite:
        words += say("nicht", *negation)
    if clause.predicate:
        words += say(clause.predicate.german, (clause, "predicate"))
    return words


def german_main(clause: Clause, front: list[Word], subject: Phrase) -> list[Word]:
    """The finite verb comes second: after the front or, if that is empty, the subject.

    A relative clause of an object follows the whole clause: "ruft den Mann an, der ..."
    """
    start = german_phrase(subject, NOMINATIVE) + german_relative(subject)
    finite, end = german_verb(clause, final=False)
    words = [*front, *finite, *start] if front else [*start, *finite]
    words += german_middle(clause) + end
    return words + german_relative(clause.dative + clause.accusative)


def german_final(clause: Clause) -> list[Word]:
    """The finite verb comes last, as in every subordinate clause."""
    words: list[Word] = []
    if clause.antecedent:
        noun, plural = clause.antecedent.noun, clause.antecedent.plural
        assert isinstance(noun, Noun)  # nothing describes a pronoun
        case = NOMINATIVE if clause.gap == "subject" else clause.gap
        form = lexicon.RELATIVE[case][lexicon.PLURAL if plural else noun.gender]
        words = say(form, (clause, "pronoun"))
    words += german_phrase(clause.subject, NOMINATIVE) + german_relative(clause.subject)
    finite, end = german_verb(clause, final=True)
    words += [*german_middle(clause), *end, *finite]
    return words + german_relative(clause.dative + clause.accusative)


def german_subordinate(subordinate: Subordinate) -> list[Word]:
    conjunction = say(subordinate.conjunction[1], (subordinate, "conjunction"))
    return conjunction + german_final(subordinate.clause)


def german(statement: Statement) -> list[Word]:
    """The words of the sentence in German, in the case that a dictionary has."""
    front: list[Word] = []
    if isinstance(statement.front, Adverb):
        for _, word in statement.front.words:
            front += say(word, (statement.front, word))
    elif isinstance(statement.front, Place):
        front = german_place(statement.front)
    elif statement.front:
        front = german_subordinate(statement.front)
        front += say(",", (statement.front, "comma"))
    words = german_main(statement.main, front, statement.main.subject)
    if statement.second:
        words += german_main(
            statement.second, say("und", (statement.second, "and")), ()
        )
    if statement.last:
        words += say(",") + german_subordinate(statement.last)
    return join_commas(words + say(".", (statement, "stop")))


def join_commas(words: list[Word]) -> list[Word]:
    """One mark where clauses end together, a full stop rather than a comma."""
    joined: list[Word] = []
    for form, concepts in words:
        if form in ",." and joined and joined[-1][0] == ",":
            concepts += joined.pop()[1]
        joined.append((form, concepts))
    return joined
