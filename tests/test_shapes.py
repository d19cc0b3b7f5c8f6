"""Every shape comment of the package, compared with the tensors of a real run."""

import ast
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from torch import Tensor

import annotated_transformer
from annotated_transformer import search
from annotated_transformer.batching import collate
from annotated_transformer.config import TINY, Recipe
from annotated_transformer.tokenizer import BOS, EOS
from annotated_transformer.training import start, update

PACKAGE = Path(annotated_transformer.__file__).parent
COMMENT = re.compile(r"#\s+((?:\.\.\.|[A-Z]|\d+)(?: (?:[A-Z]|\d+))*)$")
# No two sizes are alike, so that no axis can stand for another.
SIZES = replace(
    TINY,
    vocabulary=53,
    d_model=16,
    d_ff=24,
    heads=2,
    d_k=6,
    d_v=9,
    layers=2,
    dropout=0.1,
)
FIXED = {"D": 16, "F": 24, "H": 2, "K": 6, "V": 9, "N": 53}


def commented() -> dict[tuple[str, int], tuple[str, list[str]]]:
    """Places of comments, with the name that each speaks of and its letters."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign) and node.end_lineno is not None:
                match = COMMENT.search(lines[node.end_lineno - 1])
                if match:
                    name = ast.unparse(node.targets[0])
                    found[str(path), node.lineno] = (name, match.group(1).split(" "))
    return found


def mismatch(
    shape: torch.Size, letters: list[str], bound: dict[str, int]
) -> str | None:
    """What does not fit, if anything; binds letters that are free in this call."""
    sizes = list(shape)
    if letters[0] == "...":
        letters, sizes = letters[1:], sizes[len(sizes) - len(letters) + 1 :]
    if len(letters) != len(sizes):
        return f"{tuple(shape)} has another number of axes than {' '.join(letters)}"
    for letter, size in zip(letters, sizes, strict=True):
        expected = int(letter) if letter.isdigit() else bound.setdefault(letter, size)
        if expected != size:
            return f"{letter} is {expected}, but {tuple(shape)} has {size} there"
    return None


class Tracer:
    """Compares names with their comments as the lines that set them are passed."""

    def __init__(self) -> None:
        self.comments = commented()
        self.files = {file for file, _ in self.comments}
        self.seen: set[tuple[str, int]] = set()
        self.wrong: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        before: list[int] = []
        # H and K say nothing of leading axes; S and T and B are free in each call.
        bound = dict(FIXED)

        def line(frame: FrameType, event: str, _: Any) -> Any:
            if before:
                self.compare(frame, before.pop(), bound)
            if event == "line":
                before.append(frame.f_lineno)
            return line

        return line

    def compare(self, frame: FrameType, number: int, bound: dict[str, int]) -> None:
        place = (frame.f_code.co_filename, number)
        if place not in self.comments:
            return
        name, letters = self.comments[place]
        value = frame.f_locals.get(name)
        if isinstance(value, Tensor):
            self.seen.add(place)
            problem = mismatch(value.shape, letters, bound)
            if problem:
                self.wrong.append(f"{Path(place[0]).name}:{number} {name}: {problem}")


def run() -> None:
    """One training step and one translation of each kind."""
    sources, targets = (5, 3, 4), (8, 7, 8)
    examples = [
        ([*[10 + i] * (s - 1), EOS], [BOS, *[20 + i] * (t - 2), EOS])
        for i, (s, t) in enumerate(zip(sources, targets, strict=True))
    ]
    training = start(SIZES, Recipe())
    update(training, [collate(examples)])
    source = collate(examples).source
    search.greedy(training.model.eval(), source, extra=6)
    search.beam(training.model, source, size=4, extra=6)


def test_every_shape_comment_is_true_and_is_reached():
    tracer = Tracer()
    assert len(tracer.comments) >= 11
    sys.settrace(tracer)
    try:
        run()
    finally:
        sys.settrace(None)
    assert tracer.wrong == []
    missed = set(tracer.comments) - tracer.seen
    assert missed == set()


@pytest.mark.parametrize(
    ("shape", "letters", "fits"),
    [
        ((3, 2, 7, 6), "B H T K", True),
        ((3, 7, 2, 6), "B H T K", False),
        ((3, 2, 7, 9), "B H T K", False),
        ((3, 2, 7, 5), "... T S", True),
        ((3, 1, 1, 5), "B 1 1 S", True),
        ((3, 1, 2, 5), "B 1 1 S", False),
        ((7, 16), "B T D", False),
    ],
)
def test_the_comparison_tells_right_from_wrong(shape, letters, fits):
    problem = mismatch(torch.Size(shape), letters.split(), dict(FIXED))
    assert (problem is None) == fits


def test_a_letter_keeps_its_size_within_a_call():
    bound = dict(FIXED)
    assert mismatch(torch.Size((3, 7, 16)), ["B", "T", "D"], bound) is None
    assert "T is 7" in str(mismatch(torch.Size((3, 5, 16)), ["B", "T", "D"], bound))
