"""A view in its two forms: widgets in a notebook, frames in a page."""

import itertools
import json
import re

import matplotlib.pyplot as plt
import pytest

from annotated_transformer import plots
from annotated_transformer.view import View


def lines(slope: int, name: str):
    return plots.lines({name: [0, slope]}, f"{name} {slope}", "x", "y")


@pytest.fixture(scope="module")
def view() -> View:
    return View(
        lines,
        "Slopes",
        "A line",
        {"slope": [1, 2, 3], "name": ["a", "b <!--<script></script>"]},
    )


def data(html: str) -> dict:
    return json.loads(
        re.search(r"<script type='application/json'>(.*?)</script>", html, re.S)[1]
    )


def test_a_page_holds_a_frame_for_each_combination(view):
    frames = data(view.static_html())
    expected = [f"{i},{j}" for i, j in itertools.product(range(3), range(2))]
    assert list(frames) == expected
    assert len(set(frames.values())) == 6


def test_print_and_pages_without_scripts_show_the_first_frame(view):
    html = view.static_html()
    before_scripts = html[: html.index("<script")]
    assert "data:image/svg+xml" in before_scripts and "alt=" in before_scripts


def test_controls_are_labelled_and_native(view):
    html = view.static_html()
    assert html.count("<label>") == 2
    assert "<input type='range'" in html and "<select>" in html
    assert "role='group'" in html and "aria-label='Slopes'" in html


def test_no_text_can_end_the_script_that_carries_it():
    name = "b <!--<script></script>"
    html = View(lambda name: name, "T", "A", {"name": ["a", name]}).static_html()
    carried = re.search(r"<script type='application/json'>(.*?)</script>", html, re.S)[
        1
    ]
    assert "<" not in carried
    assert data(html) == {"0": "a", "1": name}


def test_both_forms_are_in_one_bundle(view):
    bundle = view._repr_mimebundle_()
    assert {
        "text/plain",
        "text/html",
        "application/vnd.jupyter.widget-view+json",
    } == set(bundle)
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"]


def test_a_notebooks_picture_is_replaced_and_not_added_to(view):
    box = view.widget()
    *_, slope, name, picture = box.children
    seen = {picture.value}
    for value in (2, 3, 2):
        slope.value = value
        seen.add(picture.value)
    name.value = "b <!--<script></script>"
    seen.add(picture.value)
    assert len(seen) == 4
    assert len(box.children) == 4
    assert plt.get_fignums() == []


def test_a_live_frame_is_the_pages_frame(view):
    frames = data(view.static_html())
    assert view.frame(slope=2, name="a") == frames["1,0"]


def test_drawing_it_twice_gives_the_same_bytes(view):
    assert view.static_html() == view.static_html()


def test_too_many_frames_and_empty_controls_are_refused():
    with pytest.raises(
        ValueError, match=r"10000 frames are more than 200.*fewer values"
    ):
        View(lines, "T", "A", {"slope": range(100), "name": ["a"] * 100})
    with pytest.raises(ValueError, match="'name' has no values"):
        View(lines, "T", "A", {"slope": [1], "name": []})
