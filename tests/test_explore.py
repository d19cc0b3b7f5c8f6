"""The interactive views of the book."""

import re

import pytest

from annotated_transformer import explore, translate
from tests.test_view import data

SENTENCES = ["I have a dog.", "Where is the station?"]


@pytest.fixture(scope="module")
def shipped() -> translate.Translator:
    return translate.load("shipped")


@pytest.mark.parametrize("name", ["masks", "positions", "attention", "beam"])
def test_a_ready_view_is_below_a_megabyte_and_asks_for_nothing(name, shipped):
    arguments = (shipped, SENTENCES) if name in ("attention", "beam") else ()
    html = getattr(explore, name)(*arguments).static_html()
    assert len(html.encode()) < 1_000_000
    assert not re.search(r"(src|href)=['\"]https?:", html)


def test_the_attention_view_holds_the_weights_of_every_layer_and_head(shipped):
    html = explore.attention(shipped, SENTENCES).static_html()
    maps = data(html)["maps"]
    assert len(maps) == 2 and len(maps[0]) == 3
    [found] = shipped.translate(SENTENCES[:1])
    for kind, one in zip(("encoder", "decoder", "cross"), maps[0], strict=True):
        weights = getattr(found.attention, kind)
        assert (weights * 100).round().int().tolist() == one["weights"]
        assert (len(one["rows"]), len(one["columns"])) == weights.shape[2:]
    assert maps[0][2]["rows"] == found.outputs
    assert maps[0][2]["columns"] == found.source_tokens
    assert maps[0][1]["rows"] == maps[0][1]["columns"] == found.inputs


def test_a_sentence_may_be_typed_in_a_notebook(shipped):
    box = explore.beam(shipped, SENTENCES, widths=(1, 2)).widget()
    _, sentence, _, picture = box.children
    before = picture.value
    sentence.value = "Good morning."
    assert picture.value != before
