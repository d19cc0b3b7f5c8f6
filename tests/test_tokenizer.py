"""Pieces: what comes back, what is normalised, which numbers the marks have."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import tokenizer
from annotated_transformer.tokenizer import BOS, EOS, PAD, UNK, Tokenizer

LINES = [
    f"the {adjective} {noun} {verb} in the garden"
    for adjective in ("old", "small", "green", "quiet")
    for noun in ("dog", "house", "tree", "children", "river")
    for verb in ("sleeps", "stands", "waits", "grows")
] + ["Die Kinder spielen im Garten.", "Straße „über“", "Größe: 1,5 m"] * 5


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return tokenizer.train(LINES, 350)


def test_the_four_marks_have_four_numbers(pieces):
    assert len({PAD, BOS, EOS, UNK}) == 4
    assert pieces.pieces([PAD, BOS, EOS, UNK]) == ["<pad>", "<s>", "</s>", "<unk>"]
    assert pieces.vocabulary == 350


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("the old dog", "the old dog"),
        ("Test…", "Test..."),
        ("ﬁnd", "find"),
        ("a  b ", "a b"),
        ("a\u00a0b", "a b"),
        ("１２", "12"),
        ("", ""),
    ],
)
def test_what_comes_back_is_the_text_as_nfkc_writes_it(pieces, text, back):
    assert pieces.decode(pieces.encode(text)) == back


@pytest.mark.parametrize("text", ["xyz", "日本", "🙂", "King Qñ"])
def test_characters_that_were_never_seen_are_spelt_in_bytes(pieces, text):
    ids = pieces.encode(text)
    assert UNK not in ids
    assert pieces.decode(ids) == text
    assert pieces.decode(pieces.encode(pieces.decode(ids))) == text


def test_marks_that_are_typed_are_text(pieces):
    text = "a <s> b </s> <pad> c <unk>"
    ids = pieces.encode(text)
    assert not {PAD, BOS, EOS, UNK} & set(ids)
    assert pieces.decode(ids) == text


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Cf", "Cn", "Co"]),
        max_size=20,
    )
)
def test_decoding_is_stable(text):
    pieces = trained()
    once = pieces.decode(pieces.encode(text))
    assert pieces.decode(pieces.encode(once)) == once


def trained(memory: list = []) -> Tokenizer:  # noqa: B006 - hypothesis takes no fixture
    if not memory:
        memory.append(tokenizer.train(LINES, 350))
    return memory[0]


def test_marks_are_left_out_of_text(pieces):
    ids = pieces.encode("the dog")
    assert pieces.decode([BOS, *ids, EOS, PAD, PAD]) == "the dog"


def test_the_same_text_gives_the_same_pieces(pieces):
    again = tokenizer.train(LINES, 350)
    assert again.checksum == pieces.checksum
    assert tokenizer.train(LINES, 340).checksum != pieces.checksum


def test_both_languages_share_one_model_without_unknown_pieces(pieces):
    for line in ("Straße „über“ ß ü ä", "the dog"):
        assert UNK not in pieces.encode(line)


def test_it_is_saved_and_loaded_whole(pieces, tmp_path):
    pieces.save(tmp_path / "tokenizer.model")
    loaded = Tokenizer.load(tmp_path / "tokenizer.model")
    assert loaded.checksum == pieces.checksum
    assert loaded.encode("the old dog") == pieces.encode("the old dog")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x00" * 100])
def test_a_file_that_is_no_model_is_named(tmp_path, content):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.model"):
        Tokenizer.load(path)


@pytest.mark.parametrize(
    ("vocabulary", "bound"),
    [(100, r"choose (\d+) or more"), (10**5, r"(\d+) or fewer")],
)
def test_a_vocabulary_that_does_not_fit_the_text_says_what_would(vocabulary, bound):
    with pytest.raises(
        ValueError, match=rf"vocabulary={vocabulary} .*{bound}"
    ) as error:
        tokenizer.train(LINES, vocabulary)
    advised = int(re.search(bound, str(error.value))[1])
    assert tokenizer.train(LINES, advised).vocabulary == advised
