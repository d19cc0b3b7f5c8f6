"""Takes thebe out of the pages: it is not used, fetches from elsewhere, and errs."""

from typing import Any

from sphinx.application import Sphinx


def drop(_app: Sphinx, _page: str, _template: str, context: dict, _tree: Any) -> None:
    """Keep the scripts of a page that have nothing to do with thebe."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in f"{script} {getattr(script, 'attributes', '')}".lower()
    ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", drop, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
