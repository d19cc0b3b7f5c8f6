"""How English says a tree: articles, the verb with do and not, order of words."""

from annotated_transformer import lexicon
from annotated_transformer.lexicon import Pronoun
from annotated_transformer.syntax import (
    Adverb,
    Clause,
    NounPhrase,
    Phrase,
    Place,
    Statement,
    Subordinate,
    Word,
    say,
)


def english_noun_phrase(phrase: NounPhrase) -> list[Word]:
    noun, adjective = phrase.noun, phrase.adjective
    if isinstance(noun, Pronoun):
        return say(noun.english, (phrase, "noun"))
    form = noun.plural if phrase.plural else noun.singular
    determiner = phrase.determiner.english_form(phrase.plural)
    if determiner == "a" and (adjective.english if adjective else form)[0] in "aeiou":
        determiner = "an"
    words = say(determiner, (phrase, "determiner"))
    if adjective:
        words += say(adjective.english, (phrase, "adjective"))
    words += say(form, (phrase, "noun"))
    if phrase.place:
        words += english_place(phrase.place)
    if phrase.relative:
        words += english_clause(phrase.relative)
    return words


def english_phrase(phrases: Phrase) -> list[Word]:
    words: list[Word] = []
    for phrase in phrases:
        if words:
            words += say("and", (phrase, "and"))
        words += english_noun_phrase(phrase)
    return words


def english_place(place: Place) -> list[Word]:
    words = say(place.preposition.english, (place, "preposition"))
    return words + english_noun_phrase(place.phrase)


def english_verb(clause: Clause) -> list[Word]:
    """All words of the verb: "does not pick up", "cannot sleep", "wants to read"."""
    finite, modal = (clause, "finite"), (clause, "modal")
    verb, particle, negation = (clause, "verb"), (clause, "particle"), (clause, "not")
    plural, first, second = clause.plural, *clause.verb.english_words
    concepts = (verb,) if second else (verb, particle)
    words = say("not", negation) if clause.negated else []
    if clause.verb is lexicon.BE:
        return say(clause.verb.english_form(plural), finite, verb) + words
    if clause.modal is lexicon.CAN and clause.negated:
        words = say("cannot", finite, modal, negation)
    elif clause.negated:
        words = say(lexicon.DO.english_form(plural), finite) + words
        words += say(clause.modal.english, modal) if clause.modal else []
    elif clause.modal:
        words = say(clause.modal.english_form(plural), finite, modal)
        words += say(clause.modal.english_words[1], modal)
    else:
        first, concepts = clause.verb.english_form(plural), (finite, *concepts)
    words += say(first, *concepts)
    role = "particle" if second in lexicon.PARTICLES else "preposition"
    return words + say(second, (clause, role))


def english_predicate(clause: Clause) -> list[Word]:
    words = english_verb(clause)
    words += english_phrase(clause.dative) + english_phrase(clause.accusative)
    if clause.predicate:
        words += say(clause.predicate.english, (clause, "predicate"))
    return words


def english_clause(clause: Clause) -> list[Word]:
    words: list[Word] = []
    if clause.antecedent:
        person = clause.antecedent.noun in lexicon.PERSONS
        pronoun = "who" if person and clause.gap == "subject" else "that"
        words = say(pronoun, (clause, "pronoun"))
    return words + english_phrase(clause.subject) + english_predicate(clause)


def english_subordinate(subordinate: Subordinate) -> list[Word]:
    conjunction = say(subordinate.conjunction[0], (subordinate, "conjunction"))
    return conjunction + english_clause(subordinate.clause)


def english(statement: Statement) -> list[Word]:
    """The words of the sentence in English, in the case that a dictionary has."""
    words: list[Word] = []
    if isinstance(statement.front, Adverb):
        for word, translation in statement.front.words:
            words += say(word, (statement.front, translation))
    elif isinstance(statement.front, Place):
        words = english_place(statement.front)
    elif statement.front:
        words = english_subordinate(statement.front)
        words += say(",", (statement.front, "comma"))
    words += english_clause(statement.main)
    if statement.second:
        words += say("and", (statement.second, "and"))
        words += english_predicate(statement.second)
    if statement.last:
        words += english_subordinate(statement.last)
    return words + say(".", (statement, "stop"))
