"""What is fetched is whole and right, or not there."""

import gzip
import hashlib
import http.server
import io
import os
import signal
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace

import pytest

from annotated_transformer import corpus, download
from annotated_transformer.corpus import CorpusError
from annotated_transformer.download import Remote
from tests.files import PAGE, PAIRS, POINTER, tabbed, write


@pytest.fixture
def server(monkeypatch):
    """A server of files, and of what goes wrong: files[path] = content or behaviour."""
    monkeypatch.setenv("NO_PROXY", "*")
    files, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            content = files.get(self.path)
            if content is None:
                self.send_error(404)
            elif callable(content):
                content(self)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.files, running.asked = files, asked
        running.address = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


CONTENT = gzip.compress(b"ein Satz\n" * 5000 + os.urandom(5000).hex().encode(), mtime=0)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def half(handler):
    """Promise it all, send a half, hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[: len(CONTENT) // 2])


def half_unannounced(handler):
    """Send a half without a word on its length: only the checksum can tell."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(CONTENT[: len(CONTENT) // 2])


def test_a_file_comes_whole_and_leaves_nothing_beside_it(server, tmp_path):
    server.files["/a.gz"] = CONTENT
    path = tmp_path / "new" / "folder" / "a.gz"
    download.download(Remote(f"{server.address}/a.gz", SHA256), path)
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == ["a.gz"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            half,
            r"a\.gz could not be fetched from http://127.*try again when the network",
        ),
        (half_unannounced, "its SHA-256 should be"),
        (CONTENT[:-1] + b"?", "is not the file that this package knows"),
        (b"", "is not the file that this package knows"),
        (POINTER, "is a Git LFS pointer"),
        (PAGE, "is a web page"),
        (None, r"404 .*Not Found"),
    ],
    ids=["half", "half unannounced", "corrupt", "empty", "pointer", "page", "none"],
)
def test_what_is_not_the_file_is_never_kept_and_a_second_try_succeeds(
    server, tmp_path, content, message
):
    remote, path = Remote(f"{server.address}/a.gz", SHA256), tmp_path / "a.gz"
    server.files["/a.gz"] = content
    with pytest.raises(CorpusError, match=message) as caught:
        download.download(remote, path)
    assert os.listdir(tmp_path) == []
    assert remote.url in str(caught.value)
    assert str(path) in str(caught.value)  # where to save it by hand
    server.files["/a.gz"] = CONTENT
    download.download(remote, path)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_is_told_with_name_address_both_sums_and_a_remedy(
    server, tmp_path
):
    server.files["/train.de.gz"] = b"something else"
    remote = Remote(f"{server.address}/train.de.gz", SHA256)
    with pytest.raises(CorpusError) as caught:
        download.download(remote, tmp_path / "train.de.gz")
    actual = hashlib.sha256(b"something else").hexdigest()
    for part in ("train.de.gz", remote.url, SHA256, actual, "try again"):
        assert part in str(caught.value)


def test_without_a_network_the_message_says_where_the_file_belongs(tmp_path):
    # Port 9 of this machine: nothing listens.
    remote, path = Remote("http://127.0.0.1:9/a.gz", SHA256), tmp_path / "a.gz"
    with pytest.raises(CorpusError, match="network is there, or save the file as") as e:
        download.download(remote, path)
    assert str(path) in str(e.value)
    assert "(ConnectionError)" in str(e.value)  # and not all that requests says
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_told(server, tmp_path):
    server.files["/a.gz"] = CONTENT
    blocked = write(tmp_path / "file", "not a folder") / "a.gz"
    with pytest.raises(CorpusError, match="set ANNOTATED_TRANSFORMER_DATA"):
        download.download(Remote(f"{server.address}/a.gz", SHA256), blocked)


def test_a_fetch_that_is_killed_leaves_no_file_under_the_final_name(server, tmp_path):
    sent, over = threading.Event(), threading.Event()

    def stall(handler):
        half(handler)
        handler.wfile.flush()
        sent.set()
        over.wait()

    server.files["/a.gz"] = stall
    remote, path = Remote(f"{server.address}/a.gz", SHA256), tmp_path / "a.gz"
    program = (
        "import pathlib, sys; from annotated_transformer import download;"
        "remote = download.Remote(sys.argv[1], sys.argv[2]);"
        "download.download(remote, pathlib.Path(sys.argv[3]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, remote.url, remote.sha256, path]
    )
    assert sent.wait(60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    over.set()
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".part")] == []
    server.files["/a.gz"] = CONTENT
    download.download(remote, path)
    assert path.read_bytes() == CONTENT


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    server, tmp_path, monkeypatch, capfd
):
    server.files["/a.gz"] = CONTENT
    remote = Remote(f"{server.address}/a.gz", SHA256)
    download.download(remote, tmp_path / "a.gz")
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", Terminal())
    download.download(remote, tmp_path / "a.gz")
    assert "100%" in sys.stderr.getvalue()
    assert capfd.readouterr() == ("", "")


# A published corpus in small, behind the local server.


def zipped(member, text):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("_about.txt", "about")
        archive.writestr(member, text)
    return buffer.getvalue()


@pytest.fixture
def small(server, monkeypatch, tmp_path):
    """The published corpora with few sentences, and an empty cache: its folder."""
    tatoeba = tabbed([("Hi.", "Hallo!"), ("Hi.", "Hallo!"), *PAIRS])
    contents = {
        "tatoeba": {
            "deu-eng.zip": zipped("deu.txt", tatoeba),
            "fra-eng.zip": zipped("fra-eng/fra.txt", tatoeba),
        },
        "multi30k": {
            f"{part}.{language}.gz": gzip.compress(
                "".join(f"{part} {language} {i}\n" for i in range(3)).encode()
            )
            for part in ("train", *download.MULTI30K_SETS)
            for language in ("en", "de", "fr")
        },
    }
    for name, files in contents.items():
        remotes = {}
        for file, content in files.items():
            server.files[f"/{name}/{file}"] = content
            digest = hashlib.sha256(content).hexdigest()
            remotes[file] = Remote(f"{server.address}/{name}/{file}", digest)
        known = replace(download.CORPORA[name], files=remotes)
        monkeypatch.setitem(download.CORPORA, name, known)
    cache = tmp_path / "cache"
    monkeypatch.setenv("ANNOTATED_TRANSFORMER_DATA", str(cache))
    return cache


def test_load_fetches_what_it_needs_once(small, server):
    first = corpus.load("multi30k", "fr", "de")
    assert len(server.asked) == 12  # 6 parts in two languages
    assert first.train[0] == ("train fr 0", "train de 0")
    assert first.sets["test_2017_mscoco"].references[2] == ["test_2017_mscoco de 2"]
    assert corpus.load("multi30k", "fr", "de") == first
    assert len(server.asked) == 12


def test_fetch_completes_the_folder_and_listing_says_what_is_missing(small, server):
    assert len(download.listing()[1].missing) == 18
    assert download.fetch("multi30k") == small / "multi30k"
    tatoeba, multi30k = download.listing()
    assert (tatoeba.missing, multi30k.missing) == (["deu-eng.zip", "fra-eng.zip"], [])
    assert "fr-de" in multi30k.languages
    assert "tatoeba.org" in tatoeba.attribution
    assert "manythings.org/anki" in tatoeba.attribution


def test_a_complete_cache_is_not_written_to(small, server):
    download.fetch("tatoeba")
    folder = small / "tatoeba"
    before = folder.stat().st_mtime_ns, len(server.asked)
    download.fetch("tatoeba")
    corpus.load("tatoeba")
    assert (folder.stat().st_mtime_ns, len(server.asked)) == before


def test_a_wrong_file_in_the_cache_is_refused_and_fetch_mends_it(small):
    path = download.fetch("multi30k") / "val.de.gz"
    right = path.read_bytes()
    path.write_bytes(gzip.compress(b"other\n" * 3))
    message = (
        r"val\.de\.gz is not the file .*; fetch it again with "
        r"annotated-transformer corpus fetch multi30k"
    )
    with pytest.raises(CorpusError, match=message):
        corpus.load("multi30k")
    assert path.read_bytes() != right  # it may be somebody's: load leaves it
    download.fetch("multi30k")
    assert path.read_bytes() == right


def test_a_pointer_in_the_cache_is_told(small):
    write(small / "tatoeba" / "deu-eng.zip", POINTER)
    with pytest.raises(CorpusError, match=r"deu-eng\.zip is a Git LFS pointer"):
        corpus.load("tatoeba")


def test_an_empty_file_in_the_cache_is_a_missing_one(small):
    write(small / "tatoeba" / "deu-eng.zip", b"")
    assert "deu-eng.zip" in download.listing()[0].missing
    assert len(corpus.load("tatoeba").train) > 0


def test_parts_with_unequal_lines_ask_for_a_new_fetch(small, monkeypatch):
    content = gzip.compress(b"one\n")
    path = write(small / "multi30k" / "train.de.gz", content)
    digest = hashlib.sha256(content).hexdigest()
    known = download.CORPORA["multi30k"]
    changed = {**known.files, path.name: Remote("http://127.0.0.1:9/", digest)}
    monkeypatch.setitem(download.CORPORA, "multi30k", replace(known, files=changed))
    message = (
        r"train\.de\.gz has 1 lines, .*train\.en\.gz has 3; fetch it again with "
        r"annotated-transformer corpus fetch multi30k"
    )
    with pytest.raises(CorpusError, match=message):
        corpus.load("multi30k")


def test_a_cache_given_by_name_is_used_in_place_of_the_folder(small, tmp_path):
    download.fetch("tatoeba", cache=str(tmp_path / "other"))
    assert not small.exists()
    assert corpus.load("tatoeba", cache=tmp_path / "other").train


def test_unknown_corpora_and_directions_are_refused_with_the_known_ones():
    with pytest.raises(CorpusError, match="choose from tatoeba, multi30k"):
        corpus.load("wmt15")
    with pytest.raises(CorpusError, match="choose from tatoeba, multi30k"):
        download.fetch("../etc")
    with pytest.raises(CorpusError, match="no de-fr: choose from en-de, de-en, en-fr"):
        corpus.load("tatoeba", "de", "fr")
    with pytest.raises(CorpusError, match="no en-en: choose from"):
        corpus.load("multi30k", "en", "en")


def test_the_cache_folder_is_the_variable_or_the_users(monkeypatch):
    monkeypatch.setenv("ANNOTATED_TRANSFORMER_DATA", "~/corpora")
    assert download.cache_folder() == download.Path.home() / "corpora"
    monkeypatch.setenv("ANNOTATED_TRANSFORMER_DATA", "")
    assert download.cache_folder().name == "annotated-transformer"


def test_the_real_files_have_their_checksums(corpora):
    for name in download.CORPORA:
        assert download.fetch(name, cache=corpora) == corpora / name


@pytest.mark.parametrize(("required", "outcome"), [("", "skipped"), ("1", "error")])
def test_tests_of_real_corpora_are_skipped_or_fail_where_they_must_run(
    tmp_path, required, outcome
):
    result = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            f"{__file__}::test_the_real_files_have_their_checksums",
        ],
        env={
            **os.environ,
            "ANNOTATED_TRANSFORMER_DATA": str(tmp_path),
            "REQUIRE_CORPORA": required,
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert f"1 {outcome}" in result.stdout
