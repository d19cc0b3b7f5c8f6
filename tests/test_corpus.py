"""Corpora: what is read, split, dropped and refused."""

import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import corpus
from annotated_transformer.corpus import CorpusError
from tests.files import PAIRS, tabbed, write


def accounted(data, read):
    """True if every pair that was read is in one place, or counted as dropped."""
    kept = len(data.train) + sum(len(split.pairs()) for split in data.sets.values())
    return kept + sum(data.dropped.values()) == read


def test_two_files_and_one_with_tabs_say_the_same(tmp_path):
    english = write(tmp_path / "a.en", "".join(f"{pair[0]}\n" for pair in PAIRS))
    german = gzip.compress("".join(f"{pair[1]}\n" for pair in PAIRS).encode())
    german = write(tmp_path / "a.de.gz", german)
    parallel = corpus.load_files((english, german))
    single = corpus.load_files(write(tmp_path / "a.tsv", tabbed(PAIRS)))
    assert parallel == single
    assert accounted(single, read=300)


def test_unequal_files_are_refused_with_both_counts(tmp_path):
    english = write(tmp_path / "train.en", "a\n" * 29_000)
    german = write(tmp_path / "train.de", "b\n" * 28_999)
    message = r"train\.de has 28,999 lines, .*train\.en has 29,000; line n of one"
    with pytest.raises(CorpusError, match=message):
        corpus.load_files((english, german))


def test_empty_sides_copies_and_repetitions_are_dropped_and_counted(tmp_path):
    pairs = [("a", "b"), ("", "c"), ("d", ""), ("", ""), ("e", "e"), ("a", "b")]
    held = write(tmp_path / "held.tsv", tabbed([("x", "y"), ("", "z"), ("u", "v")]))
    text = tabbed(pairs) + "\n" + "f\tg\n"
    data = corpus.load_files(write(tmp_path / "train.tsv", text), held, held)
    assert data.train == [("a", "b"), ("f", "g")]
    assert data.development.source == ["x", "u"]
    assert data.dropped == {
        "train: a side is empty": 4,
        "train: the translation is a copy": 1,
        "train: a pair comes again": 1,
        "development: a side is empty": 1,
        "test: a side is empty": 1,
    }
    assert "dropped, train: the translation is a copy: 1" in data.summary()
    assert accounted(data, read=8 + 3 + 3)


def test_spaces_at_the_ends_are_no_part_of_a_sentence(tmp_path):
    held = write(tmp_path / "held.tsv", " x \t y\u00a0\r\n")
    data = corpus.load_files(write(tmp_path / "train.tsv", "a \t b\n"), held, held)
    assert data.train == [("a", "b")]
    assert data.development.pairs() == [("x", "y")]


def test_given_sets_keep_every_line_in_its_order(tmp_path):
    # A sentence that comes twice stays two lines: outputs are compared line by line.
    held = write(tmp_path / "held.tsv", tabbed([("x", "1"), ("y", "2"), ("x", "3")]))
    data = corpus.load_files(write(tmp_path / "train.tsv", "a\tb\n"), held, held)
    assert data.sets["test"].source == ["x", "y", "x"]
    assert data.sets["test"].references == [["1"], ["2"], ["3"]]


def test_nothing_of_a_given_set_is_trained_on(tmp_path):
    train = [
        ("Go!", "Geh!"),
        ("Go now.", "Los."),
        ("Walk.", "Lauf!"),
        ("Run.", "Renn."),
    ]
    held = write(tmp_path / "held.tsv", tabbed([("go", "geh"), ("dash", "lauf")]))
    data = corpus.load_files(write(tmp_path / "train.tsv", tabbed(train)), held, held)
    assert data.train == [("Go now.", "Los."), ("Run.", "Renn.")]
    assert data.dropped == {"train: a side is held out": 2}


def test_an_empty_set_is_refused(tmp_path):
    path = write(tmp_path / "a.tsv", "a\tb\nc\tc\nd\td\n")
    with pytest.raises(
        CorpusError, match=r"development has no sentence; dropped: .*copy: 2\. Give"
    ):
        corpus.load_files(path)


# Splitting.


@given(st.text(min_size=1), st.sampled_from(["{}!", " {} ", "“{}”", "{}\u202f?"]))
def test_case_spaces_and_punctuation_do_not_move_a_sentence(text, form):
    sentence = f"a{text}"
    assert corpus.portion(form.format(sentence)) == corpus.portion(sentence)
    assert corpus.portion("GO NOW") == corpus.portion("go now.")


def test_a_sentence_of_signs_alone_is_itself():
    assert corpus.letters("?!") != corpus.letters("...")


def test_one_sentence_in_50_goes_to_each_set_by_the_hash_that_the_text_states():
    # Independent of the package: SHA-256 of the letters as a number, modulo 50.
    digest = hashlib.sha256(b"goaway").hexdigest()
    expected = {0: "development", 1: "test"}.get(int(digest, 16) % 50, "train")
    assert corpus.portion("Go away!") == expected
    parts = [corpus.portion(f"sentence {number}") for number in range(20_000)]
    for name in ("development", "test"):
        # 400 ± 4 standard deviations of a fair draw.
        assert 320 < parts.count(name) < 480


TRANSLATED = st.lists(
    st.tuples(
        st.integers(0, 400).map("s{}".format), st.integers(0, 99).map("t{}".format)
    ),
    max_size=300,
)


@given(TRANSLATED)
def test_no_sentence_of_one_set_is_in_another_on_either_side(pairs):
    train, sets, _ = divided(pairs)
    parts = [train, sets["development"].pairs(), sets["test"].pairs()]
    sides = [{side for pair in part for side in pair} for part in parts]
    assert sides[0].isdisjoint(sides[1] | sides[2])
    assert sides[1].isdisjoint(sides[2])


@given(TRANSLATED)
def test_every_translation_of_a_test_sentence_is_a_reference(pairs):
    _, sets, _ = divided(pairs)
    for source, references in zip(
        sets["test"].source, sets["test"].references, strict=True
    ):
        assert set(references) == {target for s, target in pairs if s == source}


@given(TRANSLATED)
def test_what_is_not_kept_is_counted(pairs):
    train, sets, dropped = divided(pairs)
    kept = len(train) + sum(len(split.pairs()) for split in sets.values())
    assert kept + sum(dropped.values()) == len(pairs)


def divided(pairs):
    dropped = corpus.Counter()
    train, held = corpus.divide(corpus.once(pairs, dropped, "all"), dropped)
    sets = {name: corpus.group(part) for name, part in held.items()}
    return corpus.without(train, sets.values(), dropped), sets, dropped


# The real ones.

MULTI30K_LINES = {
    "val": 1014,
    "test_2016_flickr": 1000,
    "test_2017_flickr": 1000,
    "test_2017_mscoco": 461,
    "test_2018_flickr": 1071,
}


@pytest.mark.parametrize(("target", "lines"), [("de", 169_197), ("fr", 167_130)])
def test_real_tatoeba_is_split_by_the_english_sentence(corpora, target, lines):
    data = corpus.load("tatoeba", "en", target, cache=corpora)
    assert accounted(data, read=lines)
    assert list(data.sets) == ["development", "test"]
    test = data.sets["test"]
    assert min(len(split) for split in data.sets.values()) >= 2000
    assert len(set(test.source)) == len(test)
    assert max(map(len, test.references)) > 5
    parts = [data.train, data.development.pairs(), test.pairs()]
    sides = [{corpus.letters(side) for pair in part for side in pair} for part in parts]
    assert sides[0].isdisjoint(sides[1] | sides[2])
    assert sides[1].isdisjoint(sides[2])


def test_real_tatoeba_is_the_same_from_german(corpora):
    there = corpus.load("tatoeba", "en", "de", cache=corpora)
    back = corpus.load("tatoeba", "de", "en", cache=corpora)
    assert [pair[::-1] for pair in back.train] == there.train
    for name, split in back.sets.items():
        turned = {pair[::-1] for pair in split.pairs()}
        assert turned == set(there.sets[name].pairs())
        assert len(set(split.source)) == len(split)


@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en"), ("fr", "de")])
def test_real_multi30k_keeps_its_sets_line_for_line(corpora, languages):
    data = corpus.load("multi30k", *languages, cache=corpora)
    assert {name: len(split) for name, split in data.sets.items()} == MULTI30K_LINES
    assert data.development is data.sets["val"]
    assert accounted(data, read=29_000 + sum(MULTI30K_LINES.values()))
    assert len(data.train) > 28_950
