"""Interactive views: live in a notebook, and with the same controls in a page."""

import base64
import html
import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import matplotlib
import torch
from matplotlib import colormaps, colors
from matplotlib.figure import Figure
from torch import Tensor

from annotated_transformer import plots, search
from annotated_transformer.attention import causal_mask
from annotated_transformer.positions import sinusoidal_positions
from annotated_transformer.translate import Translation, Translator

FRAMES = 200  # more would make a page heavy
Render = Callable[..., Figure | str]

# One script for all views of a page; each finds its own data beside it.
SCRIPT = """
(() => {
  const view = document.currentScript.parentElement;
  const frames = JSON.parse(view.querySelector("script[type='application/json']").text);
  const controls = [...view.querySelectorAll("select, input")];
  const update = () => {
    for (const control of controls) {
      const shown = control.parentElement.querySelector("output");
      if (shown) shown.value = control.dataset.values.split("\\u001f")[control.value];
    }
    const key = controls.map((control) => control.value).join(",");
    view.querySelector(".explore-frame").innerHTML = frames[key];
  };
  for (const control of controls) control.addEventListener("input", update);
  update();
})();
"""


def as_html(frame: Figure | str, alt: str) -> str:
    """A frame as HTML: a figure as an SVG image, which keeps its ids to itself."""
    if isinstance(frame, str):
        return frame
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "explore"}):
        frame.savefig(file, format="svg", metadata={"Date": None})
    data = base64.b64encode(file.getvalue().encode()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def control_html(name: str, values: Sequence[Any]) -> str:
    """A slider for numbers, a list for names; both work by keyboard."""
    label = html.escape(name.replace("_", " "))
    if all(isinstance(value, int | float) for value in values):
        texts = html.escape("\u001f".join(map(str, values)))
        return (
            f"<label>{label} <output>{values[0]}</output><input type='range' min='0' "
            f"max='{len(values) - 1}' value='0' data-values='{texts}'></label>"
        )
    options = "".join(
        f"<option value='{number}'>{html.escape(str(value))}</option>"
        for number, value in enumerate(values)
    )
    return f"<label>{label} <select>{options}</select></label>"


def script_html(data: Any, script: str) -> str:
    """A view's data and the script that reads them; no text in them can end either."""
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    return f"<script type='application/json'>{text}</script><script>{script}</script>"


class View:
    """A picture that changes with its controls.

    Jupyter and Colab show widgets, which call `render` at each change. A page shows the
    same controls over frames that were drawn when it was built; print and a page
    without scripts show the first of them.

    Args:
        render: takes the controls by name; gives a figure, or HTML.
        title, alt: what to see, and what the picture shows, in words.
        controls: name to values; a frame is drawn for each combination.
        typed: the control that a reader may also type into, in a notebook.
        static: HTML for the page, where frames of all combinations would be too many.
    Raises:
        ValueError: a control has no values, or there are more than 200 combinations.
    """

    def __init__(
        self,
        render: Render,
        title: str,
        alt: str,
        controls: Mapping[str, Sequence[Any]],
        typed: str | None = None,
        static: str | None = None,
    ) -> None:
        combinations = 1
        for name, values in controls.items():
            if not len(values):
                raise ValueError(f"control {name!r} has no values: give at least one")
            combinations *= len(values)
        if combinations > FRAMES and static is None:
            raise ValueError(
                f"{combinations} frames are more than {FRAMES}: give the controls "
                f"fewer values, or the view a static form"
            )
        self.render, self.title, self.alt = render, title, alt
        self.controls, self.typed, self.static = dict(controls), typed, static

    def frame(self, **chosen: Any) -> str:
        """The picture for some values of the controls, as HTML."""
        return as_html(self.render(**chosen), self.alt)

    def static_html(self) -> str:
        """The view as a page holds it: controls, every frame, a few lines of script."""
        if self.static is not None:
            return self.static
        frames = {}
        indices = [range(len(values)) for values in self.controls.values()]
        for places in itertools.product(*indices):
            values = zip(self.controls.items(), places, strict=True)
            chosen = {name: options[place] for (name, options), place in values}
            frames[",".join(map(str, places))] = self.frame(**chosen)
        controls = "".join(control_html(*control) for control in self.controls.items())
        first = next(iter(frames.values()))
        return (
            f"<div class='explore' role='group' aria-label='{html.escape(self.title)}'>"
            f"<p class='explore-title'>{html.escape(self.title)}</p>"
            f"<div class='explore-controls'>{controls}</div>"
            f"<div class='explore-frame' aria-live='polite'>{first}</div>"
            f"{script_html(frames, SCRIPT)}</div>"
        )

    def widget(self) -> ipywidgets.VBox:
        """The view as a notebook shows it: each change draws one picture, in place."""
        picture = ipywidgets.HTML()
        inputs = {name: self.input(name) for name in self.controls}

        def update(_change: object = None) -> None:
            chosen = {name: control.value for name, control in inputs.items()}
            picture.value = self.frame(**chosen)

        for control in inputs.values():
            control.observe(update, names="value")
        update()
        heading = ipywidgets.HTML(f"<b>{html.escape(self.title)}</b>")
        return ipywidgets.VBox([heading, *inputs.values(), picture])

    def input(self, name: str) -> Any:
        """The widget of one control."""
        values, style = self.controls[name], {"description_width": "initial"}
        description = name.replace("_", " ")
        if name == self.typed:
            return ipywidgets.Combobox(
                value=values[0],
                options=list(values),
                description=description,
                continuous_update=False,
                style=style,
                layout={"width": "90%"},
            )
        numbers = all(isinstance(value, int | float) for value in values)
        kind = ipywidgets.SelectionSlider if numbers else ipywidgets.Dropdown
        return kind(options=list(values), description=description, style=style)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Both forms: notebooks prefer the widget, the book takes the HTML."""
        view = {"model_id": self.widget().model_id, "version_major": 2}
        return {
            "text/plain": f"{self.title}: {self.alt}",
            "text/html": self.static_html(),
            "application/vnd.jupyter.widget-view+json": view | {"version_minor": 0},
        }


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


# Draws the table from numbers, and says in words what a row looks at.
ATTENTION_SCRIPT = """
(() => {
  const view = document.currentScript.parentElement;
  const data = JSON.parse(view.querySelector("script[type='application/json']").text);
  const controls = [...view.querySelectorAll("select, input")];
  const said = view.querySelector(".explore-said");
  const cell = (tag, text) => {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  };
  const update = () => {
    for (const control of controls) {
      const shown = control.parentElement.querySelector("output");
      if (shown) shown.value = control.dataset.values.split("\\u001f")[control.value];
    }
    const [sentence, kind, layer, head] = controls.map((control) => +control.value);
    const { rows, columns, weights } = data.maps[sentence][kind];
    const table = document.createElement("table");
    const top = table.createTHead().insertRow();
    top.append(cell("th", "query \\u2193 key \\u2192"));
    columns.forEach((name) => top.append(cell("th", name)));
    const body = table.createTBody();
    rows.forEach((name, i) => {
      const row = body.insertRow();
      row.tabIndex = 0;
      row.append(cell("th", name));
      const numbers = weights[layer][head][i];
      numbers.forEach((weight, j) => {
        const made = row.insertCell();
        made.style.background = data.colours[Math.round(weight * 31 / 100)];
        made.title = `${name} \\u2192 ${columns[j]}: ${(weight / 100).toFixed(2)}`;
      });
      const say = () => {
        const best = numbers.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0]);
        const parts = best.slice(0, 3).map(
          ([w, j]) => `${columns[j]} ${(w / 100).toFixed(2)}`
        );
        said.textContent = `${name} looks at: ${parts.join(", ")}`;
      };
      row.addEventListener("focus", say);
      row.addEventListener("mouseenter", say);
    });
    view.querySelector(".explore-frame").replaceChildren(table);
  };
  for (const control of controls) control.addEventListener("input", update);
  update();
})();
"""


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
    data = {"maps": maps, "colours": colours}
    inputs = "".join(control_html(*control) for control in controls.items())
    weights, rows, columns = named_map(found[0], next(iter(KINDS)))
    first = as_html(plots.heatmap(weights[0, 0], rows, columns, title), title)
    return (
        f"<div class='explore' role='group' aria-label='{html.escape(title)}'>"
        f"<p class='explore-title'>{html.escape(title)}</p>"
        f"<div class='explore-controls'>{inputs}</div>"
        f"<div class='explore-frame explore-map'>{first}</div>"
        f"<p class='explore-said' aria-live='polite'>Point at a row, or move to it "
        f"with the tab key.</p>{script_html(data, ATTENTION_SCRIPT)}</div>"
    )
