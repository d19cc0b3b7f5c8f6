"""A picture with controls: live in a notebook, and the same in a page."""

import base64
import html
import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ipywidgets
import matplotlib
from matplotlib.figure import Figure

FRAMES = 200  # more would make a page heavy
BROWSER = Path(__file__).parent / "browser"
Render = Callable[..., Figure | str]


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
        texts = html.escape(json.dumps([str(value) for value in values]))
        return (
            f"<label>{label} <output>{values[0]}</output><input type='range' min='0' "
            f"max='{len(values) - 1}' value='0' data-values='{texts}'></label>"
        )
    options = "".join(
        f"<option value='{number}'>{html.escape(str(value))}</option>"
        for number, value in enumerate(values)
    )
    return f"<label>{label} <select>{options}</select></label>"


def page_html(
    title: str,
    controls: Mapping[str, Sequence[Any]],
    frame: str,
    data: Any,
    script: str,
    below: str = "",
) -> str:
    """A view as a page holds it: the controls, a frame, data, and what redraws it.

    Args:
        frame: HTML of the first frame; print and a page without scripts show it.
        data: what the script draws from, as JSON.
        script: name of a file in `browser`, which calls its function `explore`.
        below: HTML under the frame.
    """
    inputs = "".join(control_html(*control) for control in controls.items())
    # No text among the data can end the element that holds them.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    code = "".join(
        (BROWSER / f"{name}.js").read_text(encoding="utf-8")
        for name in ("controls", script)
    )
    return (
        f"<div class='explore' role='group' aria-label='{html.escape(title)}'>"
        f"<p class='explore-title'>{html.escape(title)}</p>"
        f"<div class='explore-controls'>{inputs}</div>"
        f"<div class='explore-frame'>{frame}</div>{below}"
        f"<script type='application/json'>{text}</script>"
        f"<script>(() => {{\n{code}}})();</script></div>"
    )


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
        first = next(iter(frames.values()))
        return page_html(self.title, self.controls, first, frames, "frames")

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
