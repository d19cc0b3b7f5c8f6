"""Sentence pairs to padded batches of about N tokens.   (Section 5.1)"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from annotated_transformer.tokenizer import BOS, EOS, PAD, Tokenizer

Example = tuple[list[int], list[int]]  # numbers of source and target, with their marks


@dataclass(frozen=True)
class Batch:
    """Sentences of like length, padded on the right.

    Padding on the right leaves every word at its own position, whatever the batch.

    Args:
        source: B S, each row ends in EOS before its padding.
        target: B T, each row is BOS ... EOS before its padding.
    """

    source: Tensor
    target: Tensor

    @property
    def inputs(self) -> Tensor:
        """What the decoder reads: the target without its last column."""
        return self.target[:, :-1]

    @property
    def labels(self) -> Tensor:
        """What it is to say at each place: the target one place on."""
        return self.target[:, 1:]

    @property
    def tokens(self) -> int:
        """Labels that count in the loss: no padding, one end mark a sentence."""
        return int((self.labels != PAD).sum())

    def to(self, device: torch.device | str) -> "Batch":
        return Batch(self.source.to(device), self.target.to(device))


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of numbers as one tensor, B S, filled with PAD on the right."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])


def collate(examples: Sequence[Example]) -> Batch:
    """One batch of examples."""
    sources, targets = zip(*examples, strict=True)
    return Batch(pad(sources), pad(targets))


def encode_source(
    text: str, tokenizer: Tokenizer, longest: int | None = None
) -> list[int]:
    """A source sentence: pieces, then the end mark.

    A sentence of more than `longest` tokens is cut, and still ends in the end mark.
    """
    pieces = tokenizer.encode(text)
    return [*(pieces if longest is None else pieces[: longest - 1]), EOS]


def encode_pairs(
    pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, longest: int = 256
) -> tuple[list[Example], int]:
    """Pairs as numbers, and how many were left out.

    Args:
        longest: tokens; a pair with a longer side is left out, not cut: half a
            sentence is not the translation of the other half.
    """
    examples, left_out = [], 0
    for source_text, target_text in pairs:
        source = encode_source(source_text, tokenizer)
        target = [BOS, *tokenizer.encode(target_text), EOS]
        if max(len(source), len(target)) > longest:
            left_out += 1
        else:
            examples.append((source, target))
    return examples, left_out


def group_by_length(examples: Sequence[Example], tokens: int) -> list[list[int]]:
    """Numbers of examples, grouped so that no padded batch is above its budget.

    A batch takes `rows x longest row` room on each side, which is more than its words.

    Args:
        tokens: the most that the padded source, and the padded target, may take.
    Raises:
        ValueError: one sentence alone is longer.
    """

    def lengths(index: int) -> tuple[int, int]:
        source, target = examples[index]
        return len(target), len(source)

    groups: list[list[int]] = []
    widest = [0, 0]
    for index in sorted(range(len(examples)), key=lengths):
        here = lengths(index)
        if max(here) > tokens:
            raise ValueError(
                f"a sentence of {max(here)} tokens does not fit a batch of {tokens}: "
                f"raise tokens, or lower longest in encode_pairs"
            )
        wider = [max(pair) for pair in zip(widest, here, strict=True)]
        if groups and (len(groups[-1]) + 1) * max(wider) <= tokens:
            groups[-1].append(index)
            widest = wider
        else:
            groups.append([index])
            widest = list(here)
    return groups


@dataclass(frozen=True)
class Batches:
    """Batches of about `tokens` tokens a side, in an order that seed and epoch fix.

    Shuffled before it is sorted, so that equal lengths meet new neighbours in each
    epoch; and the batches are shuffled after, so that short ones do not come first.
    """

    examples: Sequence[Example]
    tokens: int
    seed: int = 0

    def epoch(self, number: int, skip: int = 0) -> Iterator[Batch]:
        """The batches of one pass, the same ones whenever they are asked for.

        Args:
            skip: leave out so many of the first, to go on where a run was stopped.
        """
        shuffled = list(self.examples)
        order = random.Random(f"{self.seed} {number}")
        order.shuffle(shuffled)
        groups = group_by_length(shuffled, self.tokens)
        order.shuffle(groups)
        for group in groups[skip:]:
            yield collate([shuffled[index] for index in group])
