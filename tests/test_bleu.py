"""BLEU: known numbers, and calls that must not pass in silence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import bleu, corpus

WORDS = ["der", "Hund", "Haus-Tür", "bellt", ",", "laut", "„ja“", "3,5", "isst", "…"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=4, max_size=9).map(" ".join)


def one(references):
    return [[reference] for reference in references]


# One reference a sentence: hypotheses, references, sacreBLEU 13a. The first three are
# hyphens, tokens and escapes that should not be there; each was reported elsewhere.
KNOWN = {
    "a hyphen set apart": (
        ["a rich-text format was used"],
        ["a rich - text format was used"],
        28.64,
    ),
    "tokens in place of text": (
        ["It 's 5 % more , isn 't it ?"],
        ["It's 5% more, isn't it?"],
        31.24,
    ),
    "escapes in place of signs": (
        ["Tom &apos;s dog ran home fast"],
        ["Tom 's dog ran home fast"],
        31.56,
    ),
    "too short": (
        ["the cat is on the mat", "he ate"],
        ["the cat sat on the mat", "he ate fish today"],
        30.75,
    ),
    "the other way round": (
        ["the cat sat on the mat", "he ate fish today"],
        ["the cat is on the mat", "he ate"],
        29.22,
    ),
    "three sentences": (
        [
            "The dog bit the man.",
            "It wasn't surprising.",
            "The man had just bitten him.",
        ],
        ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
        45.0675,
    ),
}


@pytest.mark.parametrize(
    ("hypotheses", "references", "expected"), KNOWN.values(), ids=KNOWN
)
def test_scores_that_others_published(hypotheses, references, expected):
    scores = bleu.score(hypotheses, one(references))
    assert scores.bleu == pytest.approx(expected, abs=0.005)


def test_brevity_and_precisions_by_hand():
    # 8 tokens for 10; 7 of 8 words, 4 of 6 pairs, 1 of 4 triples, and of 3 fours none,
    # which sacreBLEU counts as a half of one.
    scores = bleu.score(
        ["the cat is on the mat", "he ate"],
        one(["the cat sat on the mat", "he ate fish today"]),
    )
    precisions = (7 / 8) * (4 / 6) * (1 / 4) * (0.5 / 3)
    expected = 100 * math.exp(1 - 10 / 8) * precisions ** (1 / 4)
    assert scores.bleu == pytest.approx(expected)


def test_the_signature_names_references_case_tokens_and_smoothing():
    scores = bleu.score(["ein Hund bellt laut"], [["ein Hund bellt laut"]])
    assert scores.signature.startswith(
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"
    )
    assert "nc:6|nw:0" in scores.chrf_signature
    assert scores.sentences == 1


def test_a_missing_reference_is_none_and_not_a_reference_of_length_0():
    # Every word is right, in 10 tokens of 5 + 8. An empty reference would be nearer to
    # the 2 tokens of the first sentence than its 5 are, and the penalty would be gone.
    hypotheses = ["x y", "a b c d e f g h"]
    references = [["x y z w v"], ["a b c d e f g h", "a b c d e f g"]]
    scores = bleu.score(hypotheses, references)
    assert scores.bleu == pytest.approx(100 * math.exp(1 - 13 / 10))
    assert scores.paper_bleu == pytest.approx(100 * math.exp(1 - 13 / 10))
    assert scores.signature.startswith("nrefs:var|")


def test_each_sentence_may_match_any_of_its_references():
    hypotheses = ["er ging nach Hause .", "wir sind sehr müde ."]
    references = [
        ["er lief dann heim .", "er ging nach Hause .", "nun ging er ."],
        ["wir sind sehr müde ."],
    ]
    scores = bleu.score(hypotheses, references)
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert scores.exact == 1


@given(st.lists(SENTENCES, min_size=1, max_size=4))
def test_a_translation_equal_to_a_reference_scores_100_by_every_definition(sentences):
    references = [["etwas ganz anderes", sentence] for sentence in sentences]
    scores = bleu.definitions(sentences, references)
    assert len(scores) == 5
    assert all(value == pytest.approx(100) for value in scores.values())
    assert bleu.score(sentences, references).exact == 1


@given(st.lists(st.tuples(SENTENCES, SENTENCES, SENTENCES), min_size=2, max_size=5))
def test_the_order_of_sentences_and_of_references_does_not_matter(rows):
    hypotheses = [row[0] for row in rows]
    references = [list(row[1:]) for row in rows]
    turned = [accepted[::-1] for accepted in references[::-1]]
    before = bleu.definitions(hypotheses, references)
    assert bleu.definitions(hypotheses[::-1], turned) == pytest.approx(before)


def test_exact_forgives_spaces_and_unicode_forms_and_nothing_else():
    hypotheses = ["Nun ja...", "Komm !", "Komm mit", "komm."]
    references = [["Nun ja…"], ["Komm\u202f!"], ["Komm  mit "], ["Komm.", "Komm!"]]
    assert bleu.score(hypotheses, references).exact == 3 / 4


# The paper's way.


def test_the_papers_tokens():
    text = "„Rich-Text“, sagte er: z. B. 3,5 % (‚nein‘) … Café."
    tokens = (
        "\" Rich ##AT##-##AT## Text \" , sagte er : z. B. 3,5 % ( ' nein ' ) ... Café ."
    )
    assert bleu.paper_tokens(text) == tokens


def test_the_tokens_are_those_of_the_language():
    assert bleu.paper_tokens("l'eau", "fr") == "l' eau"
    assert bleu.paper_tokens("don't", "en") == "don 't"
    assert bleu.paper_tokens("am 3. Mai bzw. im Juni", "de") == "am 3. Mai bzw. im Juni"


def test_a_hyphen_between_words_is_a_word_and_one_between_spaces_is_not():
    # a rich ##AT##-##AT## text format was used, against a - : 6 of 7 words, 4 of 6
    # pairs, 2 of 5 triples, 1 of 4 fours; the lengths are equal.
    result = bleu.paper_bleu(
        ["a rich-text format was used"], [["a rich - text format was used"]]
    )
    assert result == pytest.approx(100 * (6 / 7 * 4 / 6 * 2 / 5 * 1 / 4) ** (1 / 4))


def test_splitting_compounds_raises_the_score_of_one_half_right():
    hypotheses = ["das ist ein Open-Source-Projekt aus Bonn"]
    references = [["das ist ein Open-Source-Programm aus Bonn"]]
    scores = bleu.score(hypotheses, references)
    assert scores.paper_bleu > scores.bleu + 5


def test_the_papers_way_counts_case_and_smooths_nothing():
    assert bleu.paper_bleu(["der hund bellt laut"], [["Der Hund bellt laut"]]) == 0
    assert bleu.score(["der hund bellt laut"], [["Der Hund bellt laut"]]).bleu > 0


def test_the_definitions_differ_in_case_and_in_what_a_word_is():
    hypotheses = ["„Der Hund bellt heute laut“, sagt sie", "wir sehen den hund nicht"]
    references = one(
        ["«Der Hund bellt heute laut», sagt sie", "wir sehen den Hund nicht"]
    )
    scores = bleu.definitions(hypotheses, references)
    assert list(scores) == [
        "sacreBLEU 13a",
        "sacreBLEU 13a, lower case",
        "sacreBLEU intl",
        "sacreBLEU intl, lower case",
        "the paper's way",
    ]
    # 13a leaves foreign quotes at their words; intl sets them apart.
    assert scores["sacreBLEU 13a"] < scores["sacreBLEU intl"]
    assert scores["sacreBLEU 13a"] < scores["sacreBLEU 13a, lower case"]
    assert scores["sacreBLEU 13a"] == bleu.score(hypotheses, references).bleu


# Calls that sacreBLEU answers with a number, and this package with an error.

THREE = KNOWN["three sentences"]


@pytest.mark.parametrize(
    "function", [bleu.score, bleu.paper_bleu, bleu.definitions, bleu.interval]
)
@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (THREE[0], THREE[1], r"\[\[reference\] for reference in references\]"),
        (THREE[0], THREE[1][0], r"\[\[reference\] for reference in references\]"),
        (THREE[0], [THREE[1]], r"3 translations.*1 sentences.*zip\(\*references\)"),
        (THREE[0], [THREE[1]] * 2, r"2 sentences.*zip\(\*references\)"),
        (THREE[0][:2], one(THREE[1]), "2 translations.*3 sentences.*one list"),
        (THREE[0], [], "3 translations.*0 sentences.*one list"),
        (one(THREE[1]), THREE[0], "give them first"),
        ([], [], "at least one"),
        (["a", "b"], [["a"], []], "sentence 2 has no reference"),
    ],
    ids=str,
)
def test_arguments_in_a_wrong_shape_are_refused(
    function, hypotheses, references, message
):
    with pytest.raises(ValueError, match=message):
        function(hypotheses, references)


def test_the_interval_is_0_for_equal_sentences_and_narrows_with_their_number():
    same = ["der Hund bellt heute sehr laut"] * 5
    assert bleu.interval(same, one(same), samples=50) == 0
    hypotheses, references = THREE[0], one(THREE[1])
    few = bleu.interval(hypotheses * 10, references * 10, samples=200)
    many = bleu.interval(hypotheses * 90, references * 90, samples=200)
    # A third, as for any mean of 9 times as many.
    assert many == pytest.approx(few / 3, rel=0.25)


def test_real_references_score_100_against_themselves(corpora):
    test = corpus.load("tatoeba", cache=corpora).sets["test"]
    scores = bleu.score([accepted[-1] for accepted in test.references], test.references)
    assert (scores.bleu, scores.paper_bleu) == pytest.approx((100, 100))
    assert scores.exact == 1
    assert scores.sentences == len(test)
