"""The built pages in a real browser: nothing fetched from elsewhere, nothing broken."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
HTML = ROOT / "_build/html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking".split()
ADDRESS = ""  # where `served` has the book
PAGES = sorted(
    path.relative_to(HTML).as_posix()
    for folder in ("notebooks", "book")
    for path in (HTML / folder).glob("*.html")
)


def required(reason: str) -> None:
    """Skip, but fail where the browser tests must run."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        required("there is no chromium: apt-get install chromium")
    if not (HTML / "index.html").exists():
        required("the book is not built: make book")
    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def served() -> Iterator[None]:
    """The book on this machine: from files, a browser refuses the theme's fonts."""
    global ADDRESS
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=HTML))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ADDRESS = f"http://127.0.0.1:{server.server_port}/"
    yield
    server.shutdown()
    server.server_close()


def opened(browser: Browser, name: str, width: int = 1200, dark: bool = False) -> Page:
    """A page, with all that it asked for and complained of in `page.notes`."""
    scheme = "dark" if dark else "light"
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
    )
    page.notes = []  # type: ignore[attr-defined]

    def asked(request) -> None:
        if not request.url.startswith((ADDRESS, "data:", "blob:")):
            page.notes.append(f"asks for {request.url}")

    def complained(message) -> None:
        if message.type == "error":
            page.notes.append(f"says {message.text}")

    page.on("request", asked)
    page.on("console", complained)
    page.on("pageerror", lambda error: page.notes.append(f"raises {error}"))
    page.goto(ADDRESS + name, wait_until="load")
    page.wait_for_function("!window.MathJax || !!window.MathJax.startup?.promise")
    page.evaluate("window.MathJax?.startup?.promise")
    return page


def test_every_chapter_of_the_table_of_contents_has_a_page(browser):
    chapters = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert chapters == {
        Path(page).stem for page in PAGES if page.startswith("notebooks")
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nothing_of_another_machine_and_has_no_error(browser, name):
    page = opened(browser, name)
    assert page.notes == []
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone(browser, name):
    page = opened(browser, name, width=390)
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_pictures_have_text_alternatives_and_load(browser, name):
    page = opened(browser, name)
    images = "[...document.querySelectorAll('article img')]"
    assert (
        page.evaluate(f"{images}.filter(i => !i.alt || i.alt.length < 10).length") == 0
    )
    page.evaluate(f"{images}.forEach(i => {{ i.loading = 'eager'; }})")
    page.wait_for_function(f"{images}.every(i => i.complete && i.naturalWidth > 0)")
    page.close()


@pytest.mark.parametrize(
    "name", [page for page in PAGES if page.startswith("notebooks")]
)
def test_a_chapter_shows_no_traceback_and_its_formulas_are_set(browser, name):
    page = opened(browser, name)
    text = page.inner_text("article")
    assert "Traceback (most recent call last)" not in text
    assert not re.search(r"\\(frac|sqrt|mathrm|sum|left)\b", text)
    page.close()


@pytest.mark.parametrize(
    "name", [page for page in PAGES if page.startswith("notebooks")]
)
def test_a_view_changes_with_its_controls_by_keyboard(browser, name):
    page = opened(browser, name)
    for number in range(page.locator(".explore").count()):
        view = page.locator(".explore").nth(number)
        frame = view.locator(".explore-frame")
        before = frame.inner_html()
        assert len(before) > 100
        control = view.locator(".explore-controls :is(select, input)").last
        control.focus()
        page.keyboard.press(
            "ArrowRight" if control.get_attribute("type") else "ArrowDown"
        )
        assert frame.inner_html() != before
    page.close()


@pytest.mark.parametrize(
    "name", [page for page in PAGES if page.startswith("notebooks")]
)
def test_the_colab_button_leads_to_this_chapter(browser, name):
    page = opened(browser, name)
    links = page.eval_on_selector_all("a", "all => all.map(a => a.href)")
    [link] = {link for link in links if "colab.research.google.com" in link}
    path = re.search(r"/blob/main/(.*)$", link).group(1)  # type: ignore[union-attr]
    assert path == name.replace(".html", ".ipynb") and (ROOT / path).exists()
    page.close()


def test_a_figure_is_on_a_light_card_in_the_dark(browser):
    page = opened(browser, "notebooks/17_translate.html", dark=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    colour = page.eval_on_selector(
        ".cell_output img", "image => getComputedStyle(image).backgroundColor"
    )
    assert colour == "rgb(255, 255, 255)"
    page.close()
