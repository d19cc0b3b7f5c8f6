"""The figures: labelled, closed, on one scale, the right way round."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from annotated_transformer import plots

WEIGHTS = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
ROWS, COLUMNS = ["der", "Hund"], ["the", "dog", "."]
HISTORY = [
    {"step": 10, "loss": 3.0, "rate": 0.1, "tokens": 5},
    {"step": 10, "perplexity": 9.0},
    {"step": 20, "loss": 2.0, "rate": 0.2},
    {"step": 20, "perplexity": 5.0},
]
NODES = [
    {"id": 0, "parent": None, "token": "<s>", "finished": False, "best": True},
    {"id": 1, "parent": 0, "token": "a", "finished": False, "best": True},
    {"id": 2, "parent": 0, "token": "b", "finished": False, "best": False},
    {"id": 3, "parent": 1, "token": "</s>", "finished": True, "best": True},
]
FIGURES = {
    "heatmap": lambda: plots.heatmap(WEIGHTS, ROWS, COLUMNS, "T"),
    "heads": lambda: plots.heads(WEIGHTS.expand(3, 2, 3), ROWS, COLUMNS, "T"),
    "layers": lambda: plots.layers_and_heads(WEIGHTS.expand(2, 4, 2, 3), "T"),
    "mask": lambda: plots.mask(WEIGHTS > 0.2, "T"),
    "masks": lambda: plots.masks({"one": WEIGHTS > 0.2, "two": WEIGHTS > 0}, "T"),
    "tokens": lambda: plots.tokens([["a", "b"], ["c", "<pad>"]], "T"),
    "lines": lambda: plots.lines({"a": [1, 2], "b": [2, 1]}, "T", "x", "y"),
    "signed": lambda: plots.signed(WEIGHTS - 0.5, "T", "x", "y", "v"),
    "histograms": lambda: plots.histograms({"a": [1, 2, 3], "b": [2, 3]}, "T", "x"),
    "bands": lambda: plots.bands({"a": [[1, 2], [2, 3]]}, "T", "x", "y"),
    "bars": lambda: plots.bars({"a": 1, "b": 2}, "T", "x"),
    "stacked": lambda: plots.stacked_bars({"a": {"p": 1, "q": 2}}, "T", "x"),
    "training": lambda: plots.training_curves(HISTORY, "T"),
    "distribution": lambda: plots.distribution({"a": [0.1, 0.9]}, ["x", "y"], "T"),
    "alignment": lambda: plots.alignment(ROWS, COLUMNS, {(0, 0), (1, 1)}, "T"),
    "tree": lambda: plots.beam_tree(NODES, "T"),
    "bleu": lambda: plots.bleu_definitions({"13a": 20.0, "intl": 21.5}, "T"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_a_title_names_its_axes_and_is_closed(name):
    figure = FIGURES[name]()
    assert figure.get_suptitle() == "T"
    assert plt.get_fignums() == []
    named = [a.get_xlabel() or figure.get_supxlabel() for a in figure.axes]
    assert any(named) or name == "alignment"  # words on two lines need no axis
    figure.canvas.draw()


@pytest.mark.parametrize("name", FIGURES)
def test_letters_are_9_points_or_more(name):
    figure = FIGURES[name]()
    figure.canvas.draw()
    texts = figure.findobj(lambda artist: hasattr(artist, "get_fontsize"))
    assert min(t.get_fontsize() for t in texts if t.get_text() and t.get_visible()) >= 9


def test_rows_are_queries_and_columns_are_keys():
    [axes, bar] = plots.heatmap(WEIGHTS, ROWS, COLUMNS, "T").axes
    [image] = axes.images
    np.testing.assert_allclose(image.get_array(), WEIGHTS)
    assert [t.get_text() for t in axes.get_yticklabels()] == ROWS
    assert [t.get_text() for t in axes.get_xticklabels()] == COLUMNS
    assert axes.get_ylabel() == "query (attends)"
    assert axes.get_xlabel() == "key (attended to)"
    assert bar.get_ylabel() == "attention weight"


@pytest.mark.parametrize("name", ["heatmap", "heads", "layers"])
def test_all_weights_have_one_scale(name):
    images = [image for axes in FIGURES[name]().axes for image in axes.images]
    assert {image.get_clim() for image in images} == {(0, 1)}
    assert {image.get_cmap().name for image in images} == {"cividis"}


def test_signed_values_reach_as_far_both_ways():
    [axes, _] = FIGURES["signed"]().axes
    low, high = axes.images[0].get_clim()
    assert low == -high and axes.images[0].get_cmap().name == "PuOr"


def test_curves_differ_in_more_than_colour():
    series = {str(i): [i, i + 1] for i in range(7)}
    [axes] = plots.lines(series, "T", "x", "y").axes
    assert len({line.get_color() for line in axes.lines}) == 7
    assert len({str(line.get_linestyle()) for line in axes.lines}) >= 4


def test_names_at_the_ends_of_curves_do_not_overlap():
    [axes] = plots.lines(
        {"a": [0, 1.0], "b": [0, 1.001], "c": [0, 0.999]}, "T", "x", "y"
    ).axes
    heights = sorted(t.xy[1] for t in axes.texts)
    assert min(b - a for a, b in itertools.pairwise(heights)) > 0.07


@pytest.mark.parametrize("log", ["", "y"])
def test_a_name_stands_at_the_height_of_the_end_of_its_curve(log):
    series = {"low": [5, 2.0], "high": [3, 80.0]}
    figure = plots.lines(series, "T", "x", "y", log=log)
    figure.canvas.draw()
    [axes] = figure.axes
    to_axes = axes.transData + axes.transAxes.inverted()
    for text in axes.texts:
        end = to_axes.transform((1, series[text.get_text()][1]))[1]
        assert text.xy[1] == pytest.approx(end, abs=0.01)
