"""Files that tests of several modules write."""

import gzip

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
PAGE = b"<!DOCTYPE html>\n<html><body>Not here</body></html>\n"
SENTENCES = [f"sentence number {number}" for number in range(300)]
PAIRS = [(sentence, f"Satz {sentence}") for sentence in SENTENCES]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def tabbed(pairs):
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


def zipped(data):
    # Without the time: parameters of tests must be alike in each of their processes.
    return gzip.compress(data, mtime=0)
