"""Corpora: what is read, split, dropped and refused. A local server is the network."""

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
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import corpus
from annotated_transformer.corpus import CorpusError, Remote

# Python's own idea of where a line ends, but for "\n" itself.
SEPARATORS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
PAGE = b"<!DOCTYPE html>\n<html><body>Not here</body></html>\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


# Lines.


@pytest.mark.parametrize("separator", SEPARATORS, ids=ascii)
def test_only_a_newline_ends_a_line(tmp_path, separator):
    path = write(tmp_path / "text", f"a{separator}b\nc\n")
    assert corpus.read_lines(path) == [f"a{separator}b", "c"]


def test_windows_line_ends_and_a_byte_order_mark_are_no_text(tmp_path):
    path = write(tmp_path / "text", "\ufeffein\r\nzwei\r\n")
    assert corpus.read_lines(path) == ["ein", "zwei"]


def test_the_last_line_needs_no_end_and_empty_lines_count(tmp_path):
    assert corpus.read_lines(write(tmp_path / "text", "a\n\nb")) == ["a", "", "b"]
    assert corpus.read_lines(write(tmp_path / "text", "a\n\n")) == ["a", ""]


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\r\n\ufeff")


@given(st.lists(st.text(CHARACTERS), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory, lines):
    text = "".join(line + "\n" for line in lines)
    path = write(
        tmp_path_factory.mktemp("lines") / "text.gz", gzip.compress(text.encode())
    )
    assert corpus.read_lines(path) == lines


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train.de", "Größe\nStraße\n".encode("latin-1"), r"train\.de, line 1: .*0xf6"),
        ("train.de", b"gut\ngut\nStra\xdfe\n", r"line 3: byte 5 \(0xdf\) is not UTF-8"),
        ("train.de", "gut\n".encode("utf-16"), r"line 1: .* save the file as UTF-8"),
        ("train.de", b"", r"train\.de is empty"),
        ("train.de", POINTER, r"train\.de is a Git LFS pointer"),
        ("train.de.gz", POINTER, r"train\.de\.gz is a Git LFS pointer"),
        ("train.de", PAGE, r"train\.de is a web page"),
        ("train.de.gz", b"\n" + PAGE.lower(), r"train\.de\.gz is a web page"),
        ("train.de.gz", gzip.compress(PAGE), r"train\.de\.gz is a web page"),
        ("train.de.gz", b"gut\n", r"train\.de\.gz can't be read .* fetch it again"),
        ("train.de.gz", gzip.compress(b"gut\n" * 99)[:-9], r"\.gz can't be read"),
        ("train.de.gz", gzip.compress(b"gut" * 99)[:-4] + b"....", r"\.gz can't be"),
        ("train.de.gz", gzip.compress(b"gut")[:10] + b"\xff" * 20, r"\.gz can't be"),
    ],
)
def test_a_file_that_is_not_text_is_named_with_what_it_is(
    tmp_path, name, content, message
):
    with pytest.raises(CorpusError, match=message) as caught:
        corpus.read_lines(write(tmp_path / name, content))
    assert str(caught.value).startswith("corpus: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(CorpusError, match=r"nowhere\.en is missing"):
        corpus.read_lines(tmp_path / "nowhere.en")
    with pytest.raises(CorpusError, match="can't be read"):
        corpus.read_lines(tmp_path)


def test_a_damaged_archive_is_named(tmp_path):
    path = write(tmp_path / "pairs.zip", b"PK not an archive")
    with pytest.raises(CorpusError, match=r"pairs\.zip can't be read"):
        corpus.read_lines(path, "deu.txt")


# Files of one's own.

SENTENCES = [f"sentence number {number}" for number in range(300)]
PAIRS = [(sentence, f"Satz {sentence}") for sentence in SENTENCES]


def tabbed(pairs):
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def accounted(data, read):
    """True if every pair that was read is in one place, or counted as dropped."""
    kept = len(data.train) + sum(len(split.pairs()) for split in data.sets.values())
    return kept + sum(data.dropped.values()) == read


def test_two_files_and_one_with_tabs_say_the_same(tmp_path):
    english = write(tmp_path / "a.en", "".join(f"{pair[0]}\n" for pair in PAIRS))
    german = gzip.compress("".join(f"{pair[1]}\n" for pair in PAIRS).encode())
    german = write(tmp_path / "a.de.gz", german)
    parallel = corpus.load_files((english, german))
    single = corpus.load_files(write(tmp_path / "a.tsv", tabbed(PAIRS)))
    assert parallel == single
    assert accounted(single, read=300)


def test_unequal_files_are_refused_with_both_counts(tmp_path):
    english = write(tmp_path / "train.en", "a\n" * 29_000)
    german = write(tmp_path / "train.de", "b\n" * 28_999)
    message = r"train\.de has 28,999 lines, .*train\.en has 29,000; line n of one"
    with pytest.raises(CorpusError, match=message):
        corpus.load_files((english, german))


def test_a_line_without_a_tab_is_named(tmp_path):
    path = write(tmp_path / "a.tsv", "a\tb\nno tab here\n")
    with pytest.raises(CorpusError, match=r"a\.tsv, line 2 has no tab"):
        corpus.load_files(path)


def test_columns_after_the_second_are_not_read(tmp_path):
    path = write(tmp_path / "a.tsv", "Hi.\tHallo!\tCC-BY 2.0 (France) tatoeba.org\n")
    assert corpus.read_columns(path) == [("Hi.", "Hallo!")]


def test_empty_sides_copies_and_repetitions_are_dropped_and_counted(tmp_path):
    pairs = [("a", "b"), ("", "c"), ("d", ""), ("", ""), ("e", "e"), ("a", "b")]
    held = write(tmp_path / "held.tsv", tabbed([("x", "y"), ("", "z"), ("u", "v")]))
    text = tabbed(pairs) + "\n" + "f\tg\n"
    data = corpus.load_files(write(tmp_path / "train.tsv", text), held, held)
    assert data.train == [("a", "b"), ("f", "g")]
    assert data.development.source == ["x", "u"]
    assert data.dropped == {
        "train: a side is empty": 4,
        "train: the translation is a copy": 1,
        "train: a pair comes again": 1,
        "development: a side is empty": 1,
        "test: a side is empty": 1,
    }
    assert "dropped, train: the translation is a copy: 1" in data.summary()
    assert accounted(data, read=8 + 3 + 3)


def test_spaces_at_the_ends_are_no_part_of_a_sentence(tmp_path):
    held = write(tmp_path / "held.tsv", " x \t y\u00a0\r\n")
    data = corpus.load_files(write(tmp_path / "train.tsv", "a \t b\n"), held, held)
    assert data.train == [("a", "b")]
    assert data.development.pairs() == [("x", "y")]


def test_given_sets_keep_every_line_in_its_order(tmp_path):
    # A sentence that comes twice stays two lines: outputs are compared line by line.
    held = write(tmp_path / "held.tsv", tabbed([("x", "1"), ("y", "2"), ("x", "3")]))
    data = corpus.load_files(write(tmp_path / "train.tsv", "a\tb\n"), held, held)
    assert data.sets["test"].source == ["x", "y", "x"]
    assert data.sets["test"].references == [["1"], ["2"], ["3"]]


def test_nothing_of_a_given_set_is_trained_on(tmp_path):
    train = [
        ("Go!", "Geh!"),
        ("Go now.", "Los."),
        ("Walk.", "Lauf!"),
        ("Run.", "Renn."),
    ]
    held = write(tmp_path / "held.tsv", tabbed([("go", "geh"), ("dash", "lauf")]))
    data = corpus.load_files(write(tmp_path / "train.tsv", tabbed(train)), held, held)
    assert data.train == [("Go now.", "Los."), ("Run.", "Renn.")]
    assert data.dropped == {"train: a side is held out": 2}


def test_an_empty_set_is_refused(tmp_path):
    path = write(tmp_path / "a.tsv", "a\tb\n")
    with pytest.raises(CorpusError, match="development has no sentence: give"):
        corpus.load_files(path)


def test_umlauts_are_read_whatever_the_locale(tmp_path):
    path = write(tmp_path / "a.tsv", "street\tStraße „über“\n")
    program = (
        "import sys; from annotated_transformer import corpus;"
        "print(ascii(corpus.read_columns(sys.argv[1])))"
    )
    command = [sys.executable, "-X", "utf8=0", "-X", "warn_default_encoding"]
    result = subprocess.run(
        [
            *command,
            "-W",
            "error::EncodingWarning:annotated_transformer",
            "-c",
            program,
            path,
        ],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stdout.strip() == ascii([("street", "Straße „über“")])


# Splitting.


@given(st.text(min_size=1), st.sampled_from(["{}!", " {} ", "“{}”", "{}\u202f?"]))
def test_case_spaces_and_punctuation_do_not_move_a_sentence(text, form):
    sentence = f"a{text}"
    assert corpus.portion(form.format(sentence)) == corpus.portion(sentence)
    assert corpus.portion("GO NOW") == corpus.portion("go now.")


def test_a_sentence_of_signs_alone_is_itself():
    assert corpus.letters("?!") != corpus.letters("...")


def test_one_sentence_in_50_goes_to_each_set_by_the_hash_that_the_text_states():
    # Independent of the package: SHA-256 of the letters as a number, modulo 50.
    digest = hashlib.sha256(b"goaway").hexdigest()
    expected = {0: "development", 1: "test"}.get(int(digest, 16) % 50, "train")
    assert corpus.portion("Go away!") == expected
    parts = [corpus.portion(f"sentence {number}") for number in range(20_000)]
    for name in ("development", "test"):
        # 400 ± 4 standard deviations of a fair draw.
        assert 320 < parts.count(name) < 480


TRANSLATED = st.lists(
    st.tuples(
        st.integers(0, 400).map("s{}".format), st.integers(0, 99).map("t{}".format)
    ),
    max_size=300,
)


@given(TRANSLATED)
def test_no_sentence_of_one_set_is_in_another_on_either_side(pairs):
    train, sets, _ = divided(pairs)
    parts = [train, sets["development"].pairs(), sets["test"].pairs()]
    sides = [{side for pair in part for side in pair} for part in parts]
    assert sides[0].isdisjoint(sides[1] | sides[2])
    assert sides[1].isdisjoint(sides[2])


@given(TRANSLATED)
def test_every_translation_of_a_test_sentence_is_a_reference(pairs):
    _, sets, _ = divided(pairs)
    for source, references in zip(
        sets["test"].source, sets["test"].references, strict=True
    ):
        assert set(references) == {target for s, target in pairs if s == source}


@given(TRANSLATED)
def test_what_is_not_kept_is_counted(pairs):
    train, sets, dropped = divided(pairs)
    kept = len(train) + sum(len(split.pairs()) for split in sets.values())
    assert kept + sum(dropped.values()) == len(pairs)


def divided(pairs):
    dropped = corpus.Counter()
    train, held = corpus.divide(corpus.once(pairs, dropped, "all"), dropped)
    sets = {name: corpus.group(part) for name, part in held.items()}
    return corpus.without(train, sets.values(), dropped), sets, dropped


# Fetching, from a server on this machine.


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
    corpus.download(Remote(f"{server.address}/a.gz", SHA256), path)
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
        corpus.download(remote, path)
    assert os.listdir(tmp_path) == []
    assert remote.url in str(caught.value)
    assert str(path) in str(caught.value)  # where to save it by hand
    server.files["/a.gz"] = CONTENT
    corpus.download(remote, path)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_is_told_with_name_address_both_sums_and_a_remedy(
    server, tmp_path
):
    server.files["/train.de.gz"] = b"something else"
    remote = Remote(f"{server.address}/train.de.gz", SHA256)
    with pytest.raises(CorpusError) as caught:
        corpus.download(remote, tmp_path / "train.de.gz")
    actual = hashlib.sha256(b"something else").hexdigest()
    for part in ("train.de.gz", remote.url, SHA256, actual, "try again"):
        assert part in str(caught.value)


def test_without_a_network_the_message_says_where_the_file_belongs(tmp_path):
    # Port 9 of this machine: nothing listens.
    remote, path = Remote("http://127.0.0.1:9/a.gz", SHA256), tmp_path / "a.gz"
    with pytest.raises(CorpusError, match="network is there, or save the file as") as e:
        corpus.download(remote, path)
    assert str(path) in str(e.value)
    assert "(ConnectionError)" in str(e.value)  # and not all that requests says
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_told(server, tmp_path):
    server.files["/a.gz"] = CONTENT
    blocked = write(tmp_path / "file", "not a folder") / "a.gz"
    with pytest.raises(CorpusError, match="set ANNOTATED_TRANSFORMER_DATA"):
        corpus.download(Remote(f"{server.address}/a.gz", SHA256), blocked)


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
        "import pathlib, sys; from annotated_transformer import corpus;"
        "remote = corpus.Remote(sys.argv[1], sys.argv[2]);"
        "corpus.download(remote, pathlib.Path(sys.argv[3]))"
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
    corpus.download(remote, path)
    assert path.read_bytes() == CONTENT


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    server, tmp_path, monkeypatch, capfd
):
    server.files["/a.gz"] = CONTENT
    remote = Remote(f"{server.address}/a.gz", SHA256)
    corpus.download(remote, tmp_path / "a.gz")
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", Terminal())
    corpus.download(remote, tmp_path / "a.gz")
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
            for part in ("train", *corpus.MULTI30K_SETS)
            for language in ("en", "de", "fr")
        },
    }
    for name, files in contents.items():
        remotes = {}
        for file, content in files.items():
            server.files[f"/{name}/{file}"] = content
            digest = hashlib.sha256(content).hexdigest()
            remotes[file] = Remote(f"{server.address}/{name}/{file}", digest)
        known = replace(corpus.CORPORA[name], files=remotes)
        monkeypatch.setitem(corpus.CORPORA, name, known)
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
    assert len(corpus.listing()[1].missing) == 18
    assert corpus.fetch("multi30k") == small / "multi30k"
    tatoeba, multi30k = corpus.listing()
    assert (tatoeba.missing, multi30k.missing) == (["deu-eng.zip", "fra-eng.zip"], [])
    assert "fr-de" in multi30k.languages
    assert "tatoeba.org" in tatoeba.attribution
    assert "manythings.org/anki" in tatoeba.attribution


def test_a_complete_cache_is_not_written_to(small, server):
    corpus.fetch("tatoeba")
    folder = small / "tatoeba"
    before = folder.stat().st_mtime_ns, len(server.asked)
    corpus.fetch("tatoeba")
    corpus.load("tatoeba")
    assert (folder.stat().st_mtime_ns, len(server.asked)) == before


def test_a_wrong_file_in_the_cache_is_refused_and_fetch_mends_it(small):
    path = corpus.fetch("multi30k") / "val.de.gz"
    right = path.read_bytes()
    path.write_bytes(gzip.compress(b"other\n" * 3))
    message = (
        r"val\.de\.gz is not the file .*; fetch it again with "
        r"annotated-transformer corpus fetch multi30k"
    )
    with pytest.raises(CorpusError, match=message):
        corpus.load("multi30k")
    assert path.read_bytes() != right  # it may be somebody's: load leaves it
    corpus.fetch("multi30k")
    assert path.read_bytes() == right


def test_a_pointer_in_the_cache_is_told(small):
    write(small / "tatoeba" / "deu-eng.zip", POINTER)
    with pytest.raises(CorpusError, match=r"deu-eng\.zip is a Git LFS pointer"):
        corpus.load("tatoeba")


def test_an_empty_file_in_the_cache_is_a_missing_one(small):
    write(small / "tatoeba" / "deu-eng.zip", b"")
    assert "deu-eng.zip" in corpus.listing()[0].missing
    assert len(corpus.load("tatoeba").train) > 0


def test_parts_with_unequal_lines_ask_for_a_new_fetch(small, monkeypatch):
    content = gzip.compress(b"one\n")
    path = write(small / "multi30k" / "train.de.gz", content)
    digest = hashlib.sha256(content).hexdigest()
    known = corpus.CORPORA["multi30k"]
    changed = {**known.files, path.name: Remote("http://127.0.0.1:9/", digest)}
    monkeypatch.setitem(corpus.CORPORA, "multi30k", replace(known, files=changed))
    message = (
        r"train\.de\.gz has 1 lines, .*train\.en\.gz has 3; fetch it again with "
        r"annotated-transformer corpus fetch multi30k"
    )
    with pytest.raises(CorpusError, match=message):
        corpus.load("multi30k")


def test_a_cache_given_by_name_is_used_in_place_of_the_folder(small, tmp_path):
    corpus.fetch("tatoeba", cache=str(tmp_path / "other"))
    assert not small.exists()
    assert corpus.load("tatoeba", cache=tmp_path / "other").train


def test_unknown_corpora_and_directions_are_refused_with_the_known_ones():
    with pytest.raises(CorpusError, match="choose from tatoeba, multi30k"):
        corpus.load("wmt15")
    with pytest.raises(CorpusError, match="choose from tatoeba, multi30k"):
        corpus.fetch("../etc")
    with pytest.raises(CorpusError, match="no de-fr: choose from en-de, de-en, en-fr"):
        corpus.load("tatoeba", "de", "fr")
    with pytest.raises(CorpusError, match="no en-en: choose from"):
        corpus.load("multi30k", "en", "en")


def test_the_cache_folder_is_the_variable_or_the_users(monkeypatch):
    monkeypatch.setenv("ANNOTATED_TRANSFORMER_DATA", "~/corpora")
    assert corpus.cache_folder() == corpus.Path.home() / "corpora"
    monkeypatch.setenv("ANNOTATED_TRANSFORMER_DATA", "")
    assert corpus.cache_folder().name == "annotated-transformer"


# The real ones.

MULTI30K_LINES = {
    "val": 1014,
    "test_2016_flickr": 1000,
    "test_2017_flickr": 1000,
    "test_2017_mscoco": 461,
    "test_2018_flickr": 1071,
}


def test_the_real_files_have_their_checksums(corpora):
    for name in corpus.CORPORA:
        assert corpus.fetch(name, cache=corpora) == corpora / name


@pytest.mark.parametrize(("target", "lines"), [("de", 169_197), ("fr", 167_130)])
def test_real_tatoeba_is_split_by_the_english_sentence(corpora, target, lines):
    data = corpus.load("tatoeba", "en", target, cache=corpora)
    assert accounted(data, read=lines)
    assert list(data.sets) == ["development", "test"]
    test = data.sets["test"]
    assert min(len(split) for split in data.sets.values()) >= 2000
    assert len(set(test.source)) == len(test)
    assert max(map(len, test.references)) > 5
    parts = [data.train, data.development.pairs(), test.pairs()]
    sides = [{corpus.letters(side) for pair in part for side in pair} for part in parts]
    assert sides[0].isdisjoint(sides[1] | sides[2])
    assert sides[1].isdisjoint(sides[2])


def test_real_tatoeba_is_the_same_from_german(corpora):
    there = corpus.load("tatoeba", "en", "de", cache=corpora)
    back = corpus.load("tatoeba", "de", "en", cache=corpora)
    assert [pair[::-1] for pair in back.train] == there.train
    for name, split in back.sets.items():
        turned = {pair[::-1] for pair in split.pairs()}
        assert turned == set(there.sets[name].pairs())
        assert len(set(split.source)) == len(split)


@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en"), ("fr", "de")])
def test_real_multi30k_keeps_its_sets_line_for_line(corpora, languages):
    data = corpus.load("multi30k", *languages, cache=corpora)
    assert {name: len(split) for name, split in data.sets.items()} == MULTI30K_LINES
    assert data.development is data.sets["val"]
    assert accounted(data, read=29_000 + sum(MULTI30K_LINES.values()))
    assert len(data.train) > 28_950


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
