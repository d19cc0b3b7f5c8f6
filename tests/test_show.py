"""Printing the package's own source."""

import ast

import pytest

from annotated_transformer import attention, search
from annotated_transformer.config import BASE, BIG, TINY, Recipe
from annotated_transformer.model import Transformer
from annotated_transformer.show import show


@pytest.mark.parametrize(
    ("thing", "first", "file"),
    [
        (attention.causal_mask, "def causal_mask(", "attention.py"),
        (search.Beam, "@dataclass", "search.py"),
        (Transformer.encode, "def encode(self", "model.py"),
    ],
)
def test_the_source_is_that_of_the_file_with_its_place(thing, first, file):
    shown = show(thing)
    assert shown.text.startswith(first)
    assert file in shown.place and ", line " in shown.place
    assert shown.text in repr(shown)
    ast.parse(shown.text)  # indented as in the file


def test_a_notebook_gets_highlighted_html_that_can_be_reached_by_keyboard():
    html = show(attention.padding_mask)._repr_html_()
    assert '<span class="k">def</span>' in html and 'tabindex="0"' in html
    assert "attention.py" in html


def test_settings_show_what_differs():
    assert show(BASE).text == "Config()\n"
    assert show(BIG).text == "Config(d_model=1024, d_ff=4096, heads=16, dropout=0.3)\n"
    assert eval(show(TINY).text, {"Config": type(TINY)}) == TINY
    assert show(Recipe(seed=3)).text == "Recipe(seed=3)\n"


@pytest.mark.parametrize("thing", [len, pytest, "text", 3, pytest.raises])
def test_what_is_not_of_the_package_is_refused(thing):
    with pytest.raises(TypeError, match="show takes a function, class"):
        show(thing)
