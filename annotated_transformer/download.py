"""The published corpora: what they consist of, fetched once and checked."""

import hashlib
import itertools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pooch

from annotated_transformer.text_files import CorpusError, impostor


@dataclass(frozen=True)
class Remote:
    """A file at an address that names a commit, so what lies there can't change."""

    url: str
    sha256: str


@dataclass(frozen=True)
class Published:
    """A corpus that others published: its files by name, and whom to name for it."""

    directions: tuple[tuple[str, str], ...]
    files: dict[str, Remote]
    attribution: str


# As `sha256sum` prints them.
MULTI30K_SHA256 = """
9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8  test_2016_flickr.de.gz
611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9  test_2016_flickr.en.gz
6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90  test_2016_flickr.fr.gz
a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee  test_2017_flickr.de.gz
76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074  test_2017_flickr.en.gz
3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496  test_2017_flickr.fr.gz
799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338  test_2017_mscoco.de.gz
aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58  test_2017_mscoco.en.gz
754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0  test_2017_mscoco.fr.gz
ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608  test_2018_flickr.de.gz
ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d  test_2018_flickr.en.gz
fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501  test_2018_flickr.fr.gz
726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6  train.de.gz
d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f  train.en.gz
622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c  train.fr.gz
f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a  val.de.gz
14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28  val.en.gz
ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9  val.fr.gz
"""
MULTI30K_SETS = (
    "val",
    "test_2016_flickr",
    "test_2017_flickr",
    "test_2017_mscoco",
    "test_2018_flickr",
)
GITHUB = "https://raw.githubusercontent.com"
CORPORA = {
    "tatoeba": Published(
        directions=(("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")),
        files={
            "deu-eng.zip": Remote(
                f"{GITHUB}/jhamburg/dats6450_nlp/"
                "fc38d83c4353d753fb9b34d98e945cbc5fab2811/deu-eng.zip",
                "71750f704aeb6b0a01fe57341c3051b9efd98f63b61ee266b2c2283d1b80cb71",
            ),
            "fra-eng.zip": Remote(
                f"{GITHUB}/modelexlab/data/"
                "adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
                "161c93f18da3a7e6df611ed961426613260de8af06ccf8c79c977afe5135ac44",
            ),
        },
        attribution="Sentences by the contributors of Tatoeba (tatoeba.org), CC BY 2.0 "
        "FR, in the pairs of manythings.org/anki.",
    ),
    "multi30k": Published(
        directions=tuple(itertools.permutations(("en", "de", "fr"), 2)),
        files={
            name: Remote(
                f"{GITHUB}/multi30k/dataset/"
                f"a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/{name}",
                sha256,
            )
            for sha256, name in map(str.split, MULTI30K_SHA256.split("\n")[1:-1])
        },
        attribution="Multi30k, task 1 (github.com/multi30k/dataset; Elliott, Frank, "
        "Sima'an and Specia, 2016), for research and education.",
    ),
}


def cache_folder() -> Path:
    """Where corpora lie, as `<corpus>/<file>`: $ANNOTATED_TRANSFORMER_DATA, if set."""
    folder = os.environ.get("ANNOTATED_TRANSFORMER_DATA")
    return Path(folder or pooch.os_cache("annotated-transformer")).expanduser()


@dataclass(frozen=True)
class Listing:
    """A corpus that can be fetched, and which of its files are still to be."""

    name: str
    languages: list[str]  # "en-de" and so on
    missing: list[str]
    attribution: str


def listing(cache: str | Path | None = None) -> list[Listing]:
    """The corpora that `fetch` and `load` know."""
    folder = Path(cache or cache_folder())
    entries = []
    for name, corpus in CORPORA.items():
        languages = [f"{source}-{target}" for source, target in corpus.directions]
        missing = [file for file in corpus.files if not there(folder / name / file)]
        entries.append(Listing(name, languages, missing, corpus.attribution))
    return entries


def published(name: str) -> Published:
    """A corpus of `CORPORA`, or an error that names them all."""
    if name not in CORPORA:
        raise CorpusError(
            f"there is no corpus {name!r}: choose from {', '.join(CORPORA)}, "
            f"the built-in grammar, or files of your own"
        )
    return CORPORA[name]


def fetch(name: str, cache: str | Path | None = None) -> Path:
    """The folder of a corpus, with each of its files there and sound.

    A file that has its checksum stays as it is, so a folder that is complete may be
    read-only; one with a wrong checksum is fetched again.

    Raises:
        CorpusError: a file can't be fetched or written, or isn't what it should be.
    """
    folder = Path(cache or cache_folder()) / name
    for file, remote in published(name).files.items():
        path = folder / file
        if not there(path) or sha256(path) != remote.sha256:
            download(remote, path)
    return folder


def obtain(name: str, file: str, folder: Path) -> Path:
    """A file of a corpus, fetched if it is missing or empty, refused if it is wrong."""
    remote = published(name).files[file]
    path = folder / name / file
    if not there(path):
        download(remote, path)
    elif sha256(path) != remote.sha256:
        raise CorpusError(
            f"{path} {mismatch(path, remote)}; fetch it again with "
            f"annotated-transformer corpus fetch {name}"
        )
    return path


def there(path: Path) -> bool:
    """Is it a file with anything in it? An empty one is what a full disk leaves."""
    return path.is_file() and path.stat().st_size > 0


def download(remote: Remote, path: Path) -> None:
    """Fetch a file; `path` exists afterwards only if all of it came and is right.

    Raises:
        CorpusError: no connection, no such page, a transfer that broke off, a checksum
            that differs, or a folder that can't be written.
    """
    # A name of its own: two processes may fetch one file at the same time.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise CorpusError(
            f"{path.name} is to be fetched, but {path.parent} can't be written "
            f"({error.strerror}): set ANNOTATED_TRANSFORMER_DATA to a folder that can"
        ) from None
    fetcher = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=30)
    try:
        fetcher(remote.url, str(part), None)
        if sha256(part) != remote.sha256:
            raise CorpusError(
                f"{path.name} as fetched from {remote.url} {mismatch(part, remote)}; "
                f"nothing was kept: try again, or find that file elsewhere and save it "
                f"as {path}"
            )
        os.replace(part, path)
    except OSError as error:
        reason = str(error).partition(" for url")[0]
        reason = reason if len(reason) < 50 else type(error).__name__
        raise CorpusError(
            f"{path.name} could not be fetched from {remote.url} ({reason}): try again "
            f"when the network is there, or save the file as {path}"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def mismatch(path: Path, remote: Remote) -> str:
    """Which checksum a file should have and has, and what the file seems to be."""
    seems = impostor(path.read_bytes()[:500])
    return (
        f"is {seems or 'not the file that this package knows'}: its SHA-256 should be "
        f"{remote.sha256} and is {sha256(path)} (of {remote.url})"
    )
