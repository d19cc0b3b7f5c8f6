"""The interactive views of the book."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib import colormaps, colors
from matplotlib.figure import Figure
from torch import Tensor

from annotated_transformer import plots, search
from annotated_transformer.attention import causal_mask
from annotated_transformer.positions import sinusoidal_positions
from annotated_transformer.translate import Translation, Translator
from annotated_transformer.view import View, as_html, page_html


def masks(length: int = 6) -> View:
    """Which keys each query may attend to, for a sentence of some words and padding."""

    def render(kind: str, words: int) -> Figure:
        padding = (torch.arange(length) < words).expand(length, length)
        causal = causal_mask(length)
        allowed = {
            "padding": padding,
            "causal": causal,
            "both": padding & causal,
        }[kind]
        count = int(allowed.sum())
        return plots.mask(allowed, f"{kind}: {count} of {length**2} cells may be used")

    return View(
        render,
        "Which cells may be used",
        "A grid of queries and keys; yes where a query may attend to a key",
        {"kind": ["padding", "causal", "both"], "words": [*range(length, 0, -1)]},
    )


def positions(length: int = 64) -> View:
    """How like the position of a word is to those of others, by its dot products."""

    def render(d_model: int, position: int) -> Figure:
        table = sinusoidal_positions(length, d_model)
        likeness = table @ table[position] / (d_model / 2)
        return plots.lines(
            {"likeness": likeness},
            f"Position {position} is most like its neighbours",
            "other position",
            "dot product / (d_model / 2)",
        )

    return View(
        render,
        "Likeness of positions",
        "Dot products of one position with all others: a peak at itself, falling off "
        "evenly on both sides",
        {"d_model": [16, 64, 256], "position": [*range(0, length, 8)]},
    )


def beam(
    translator: Translator,
    sentences: Sequence[str],
    widths: Sequence[int] = (1, 2, 4, 8),
) -> View:
    """What beam search of each width ends up with, and how it ranks it."""

    def render(sentence: str, width: int) -> str:
        source = torch.tensor([translator.encode(sentence, "the sentence")])
        found = search.beam(translator.model, source, size=width, best=width)[0]
        rows = "".join(
            f"<tr><td>{html.escape(translator.tokenizer.decode(one.tokens))}</td>"
            f"<td>{one.log_probability:.2f}</td><td>{one.score:.2f}</td></tr>"
            for one in found[:8]
        )
        return (
            "<table><thead><tr><th>hypothesis</th><th>log-probability (nats)</th>"
            f"<th>score</th></tr></thead><tbody>{rows}</tbody></table>"
        )

    return View(
        render,
        "What a beam holds at its end",
        "A table of hypotheses with their log-probabilities and scores, best first",
        {"sentence": list(sentences), "width": list(widths)},
        typed="sentence",
    )


KINDS = {
    "encoder self-attention": "encoder",
    "decoder self-attention": "decoder",
    "decoder to source": "cross",
}


def named_map(found: Translation, kind: str) -> tuple[Tensor, list[str], list[str]]:
    """Weights of one kind, layers H T S, with the names of rows and columns."""
    weights = getattr(found.attention, KINDS[kind])
    rows, columns = {
        "encoder": (found.source_tokens, found.source_tokens),
        "decoder": (found.inputs, found.inputs),
        "cross": (found.outputs, found.source_tokens),
    }[KINDS[kind]]
    return weights, rows, columns


def attention(translator: Translator, sentences: Sequence[str]) -> View:
    """Every layer and head of the translations of some sentences."""
    layers, heads = translator.model.config.layers, translator.model.config.heads

    def render(sentence: str, kind: str, layer: int, head: int) -> Figure:
        [found] = translator.translate([sentence])
        weights, rows, columns = named_map(found, kind)
        title = f"{kind}, layer {layer}, head {head}"
        return plots.heatmap(weights[layer - 1, head - 1], rows, columns, title)

    controls: dict[str, Sequence[Any]] = {
        "sentence": list(sentences),
        "kind": list(KINDS),
        "layer": [*range(1, layers + 1)],
        "head": [*range(1, heads + 1)],
    }
    title = "What each head looks at"
    static = attention_html(translator.translate(sentences), controls, title)
    alt = "Attention weights: rows are what attends, columns what is attended to"
    return View(render, title, alt, controls, "sentence", static)


def attention_html(
    found: Sequence[Translation], controls: Mapping[str, Sequence[Any]], title: str
) -> str:
    """The attention view for a page: numbers in hundredths, drawn by its script."""
    maps = [
        [
            {
                "rows": rows,
                "columns": columns,
                "weights": (weights * 100).round().int().tolist(),
            }
            for weights, rows, columns in (named_map(one, kind) for kind in KINDS)
        ]
        for one in found
    ]
    colours = [colors.to_hex(colormaps["cividis"](i / 31)) for i in range(32)]
    weights, rows, columns = named_map(found[0], next(iter(KINDS)))
    first = as_html(plots.heatmap(weights[0, 0], rows, columns, title), title)
    said = (
        "<p class='explore-said' aria-live='polite'>Point at a row, or move to it with "
        "the tab key.</p>"
    )
    data = {"maps": maps, "colours": colours}
    return page_html(title, controls, first, data, "attention", below=said)
