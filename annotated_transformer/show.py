"""A component's own source, printed where a chapter speaks of it."""

import inspect
import textwrap
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

PACKAGE = Path(__file__).parent


class Source:
    """Source text: highlighted in a notebook or page, plain elsewhere."""

    def __init__(self, text: str, place: str) -> None:
        self.text, self.place = text, place

    def __repr__(self) -> str:
        return f"# {self.place}\n{self.text}"

    def _repr_html_(self) -> str:
        # The page's own style sheet colours the classes, for light and dark alike.
        code = highlight(self.text, PythonLexer(), HtmlFormatter(nowrap=True))
        return (
            f'<div class="highlight package-source"><p>{self.place}</p>'
            f'<pre tabindex="0"><code>{code}</code></pre></div>'
        )


def show(thing: Any) -> Source:
    """The source of a function or class of this package; of settings, what differs.

    Args:
        thing: a function, method or class; or an instance of a settings dataclass.
    Raises:
        TypeError: it is not of this package, so that its source is not ours to show.
    """
    if is_dataclass(thing) and not isinstance(thing, type):
        return Source(differences(thing), type(thing).__name__)
    try:
        file = Path(inspect.getfile(thing))
        lines, first = inspect.getsourcelines(thing)
    except (TypeError, OSError):
        file, lines, first = Path(), [], 0
    if not file.is_relative_to(PACKAGE):
        raise TypeError(
            f"{thing!r} is not of annotated_transformer: show takes a function, class "
            f"or settings of the package"
        )
    place = f"annotated_transformer/{file.relative_to(PACKAGE)}, line {first}"
    return Source(textwrap.dedent("".join(lines)), place)


def differences(settings: Any) -> str:
    """A dataclass as Python writes it, with only the fields that differ."""
    odd = {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if getattr(settings, field.name) != field.default
    }
    arguments = ", ".join(f"{name}={value!r}" for name, value in odd.items())
    return f"{type(settings).__name__}({arguments})\n"
