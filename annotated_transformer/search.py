"""Greedy and beam search over one function: the next token's logits.   (Section 6.1)"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from annotated_transformer.tokenizer import BOS, EOS, PAD


class Decoding(Protocol):
    """Translations in progress, one a row, as `Transformer.begin` makes them."""

    def step(self, tokens: Tensor) -> Tensor:
        """Say one token in each row, B; logits of the next, B N."""

    def keep(self, rows: Tensor) -> None:
        """Keep these rows, in this order; one may be taken twice."""


class Model(Protocol):
    """Whatever search can use: a Transformer, another architecture, an ensemble."""

    def begin(self, source: Tensor) -> Decoding:
        """Read the source, B S, and be ready to say the first token after BOS."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation found by search.

    Args:
        tokens: numbers of its pieces, without BOS and EOS.
        log_probability: of the tokens, and of the end mark if there is one, in nats.
        score: log_probability / length_penalty(length), by which it was ranked.
        finished: False if the end mark did not come within the limit.
    """

    tokens: list[int]
    log_probability: float
    score: float
    finished: bool


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α: long hypotheses are forgiven some of their nats.

    Args:
        length: tokens said, the end mark counted, for finished and unfinished alike.
        alpha: 0 ranks by probability; the paper takes 0.6.
    Raises:
        ValueError: alpha is no number, or beyond ±100, where the penalty may overflow.
    Source: Wu et al. (2016), Eq. 14, without its coverage term.
    """
    if not -100 <= alpha <= 100:
        raise ValueError(f"alpha={alpha} must be within ±100: the paper takes 0.6")
    return float(((5 + length) / 6) ** alpha)


def limits(source: Tensor, extra: int) -> list[int]:
    """The most tokens that each sentence may get: its own words and `extra` more."""
    words = (source != PAD) & (source != EOS)
    return [length + extra for length in words.sum(1).tolist()]


@torch.no_grad()
def greedy(
    model: Model, source: Tensor, extra: int = 50, alpha: float = 0.6
) -> list[Hypothesis]:
    """Take the likeliest token at each step; a sentence leaves the batch at its end.

    Args:
        source: B S, padded on the right, on the model's device; dropout is the
            caller's to turn off, by `model.eval()`.
        extra: tokens by which an output may exceed its input.
        alpha: only for the score that is reported: greedy search compares nothing.
    """
    longest = limits(source, extra)
    decoding = model.begin(source)
    rows = list(range(len(source)))  # the sentences that are not yet finished
    said: list[list[int]] = [[] for _ in rows]
    total = [0.0] * len(rows)
    finished = [False] * len(rows)
    tokens = torch.full((len(rows),), BOS, device=source.device)
    while rows:
        best, tokens = decoding.step(tokens).log_softmax(-1).max(-1)
        staying = []
        steps = zip(rows, tokens.tolist(), best.tolist(), strict=True)
        for place, (row, token, gain) in enumerate(steps):
            finished[row] = token == EOS
            if finished[row] or len(said[row]) < longest[row]:
                total[row] += gain
            if not finished[row] and len(said[row]) < longest[row]:
                said[row].append(token)
                staying.append(place)
        if len(staying) < len(rows):
            rows = [rows[place] for place in staying]
            kept = torch.tensor(staying, dtype=torch.long, device=source.device)
            tokens = tokens[kept]
            decoding.keep(kept)
    return [
        hypothesis(*result, alpha) for result in zip(said, total, finished, strict=True)
    ]


def hypothesis(
    tokens: list[int], total: float, finished: bool, alpha: float
) -> Hypothesis:
    """A hypothesis with its score; its end mark counts as a token, if it has one."""
    score = total / length_penalty(len(tokens) + finished, alpha)
    return Hypothesis(tokens, total, score, finished)


@dataclass
class Beam:
    """The search of one sentence: hypotheses alive, in the order of their rows."""

    size: int
    alpha: float
    limit: int  # tokens, without the end mark
    best: int  # finished hypotheses wanted
    alive: list[tuple[list[int], float]] = field(default_factory=lambda: [([], 0.0)])
    ended: list[Hypothesis] = field(default_factory=list)

    def advance(self, candidates: list[tuple[float, int, int]]) -> list[int]:
        """Take a step's candidates, best first, and keep the beam's worth.

        Args:
            candidates: log-probability of the whole, number of the parent among those
                alive, next token; at least 2 · size of them, or all there are. Each
                parent can end only once, so `size` of them go on.
        Returns:
            The parents of those alive now.
        """
        parents: list[int] = []
        alive: list[tuple[list[int], float]] = []
        for rank, (total, parent, token) in enumerate(candidates):
            tokens = self.alive[parent][0]
            if token == EOS:
                # One that ends must be among the best, as one that goes on must be.
                if rank < self.size:
                    self.ended.append(hypothesis(tokens, total, True, self.alpha))
            elif len(alive) < self.size and len(tokens) < self.limit:
                alive.append(([*tokens, token], total))
                parents.append(parent)
        self.ended = sorted(self.ended, key=lambda h: -h.score)[: self.size]
        if not alive:
            return self.stop()
        self.alive = alive
        return parents if self.can_improve() else self.stop()

    def can_improve(self) -> bool:
        """True while some hypothesis alive could still end up among the best.

        Probabilities only fall, so the best that one can reach is what it has now,
        divided by the largest penalty among the lengths open to it. The penalty grows
        with length or falls, as α is above or below 0: the largest is at an end.
        """
        if len(self.ended) < self.best:
            return True
        length = len(self.alive[0][0])
        penalty = max(
            length_penalty(length + 1, self.alpha),
            length_penalty(self.limit + 1, self.alpha),
        )
        reachable = max(total for _, total in self.alive) / penalty
        return reachable > self.ended[self.best - 1].score

    def stop(self) -> list[int]:
        """End the search; those alive remain, marked unfinished, if too few ended."""
        if len(self.ended) < self.best:
            rest = [hypothesis(t, total, False, self.alpha) for t, total in self.alive]
            self.ended += sorted(rest, key=lambda h: -h.score)
        self.alive = []
        return []


@torch.no_grad()
def beam(
    model: Model,
    source: Tensor,
    size: int = 4,
    alpha: float = 0.6,
    extra: int = 50,
    best: int = 1,
    watch: Callable[[int, Beam], Any] | None = None,
) -> list[list[Hypothesis]]:
    """Keep the `size` likeliest hypotheses at each step; rank the ended by their score.

    A sentence stops when no hypothesis alive can still win, or at its limit. A beam of
    one has nothing to compare, and is greedy search.

    Args:
        source: B S, padded on the right; all sentences are searched in one batch.
        alpha: exponent of the length penalty.
        extra: tokens by which an output may exceed its input.
        best: hypotheses returned for each sentence, if as many are found.
        watch: called with a sentence's number and its beam after each step.
    Returns:
        For each sentence its hypotheses, best first: those that ended before those
        that did not.
    Raises:
        ValueError: size or best is below 1, or best is above size.
    """
    if size < 1 or not 1 <= best <= size:
        raise ValueError(f"beam size={size} and best={best} must be 1 <= best <= size")
    if size == 1:
        return [[found] for found in greedy(model, source, extra, alpha)]
    beams = [Beam(size, alpha, limit, best) for limit in limits(source, extra)]
    active = list(range(len(beams)))
    decoding = model.begin(source)
    tokens = torch.full((len(beams),), BOS, device=source.device)
    while active:
        log_probabilities = decoding.step(tokens).log_softmax(-1)
        rows, following, first = [], [], 0
        for number in active:
            search = beams[number]
            count = len(search.alive)
            candidates = expand(search, log_probabilities[first : first + count])
            parents = search.advance(candidates)
            rows += [first + parent for parent in parents]
            following += [said[-1] for said, _ in search.alive]
            first += count
            if watch is not None:
                watch(number, search)
        active = [number for number in active if beams[number].alive]
        if active:
            decoding.keep(torch.tensor(rows, device=source.device))
            tokens = torch.tensor(following, device=source.device)
    return [search.ended[:best] for search in beams]


def expand(search: Beam, log_probabilities: Tensor) -> list[tuple[float, int, int]]:
    """The 2 · size best continuations of a beam, best first: total, parent, token.

    Args:
        log_probabilities: of the next token, a row for each hypothesis alive.
    """
    before = torch.tensor([total for _, total in search.alive], dtype=torch.float64)
    totals = before[:, None] + log_probabilities.double().cpu()
    vocabulary = totals.size(1)
    values, places = totals.flatten().topk(min(2 * search.size, totals.numel()))
    return [
        (value, place // vocabulary, place % vocabulary)
        for value, place in zip(values.tolist(), places.tolist(), strict=True)
        if not math.isinf(value)
    ]


class Ensemble:
    """Several models that read the same and agree on the mean of their probabilities.

    Args:
        models: of one tokenizer; each a Model.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self.models = models

    def begin(self, source: Tensor) -> "EnsembleDecoding":
        return EnsembleDecoding([model.begin(source) for model in self.models])


@dataclass
class EnsembleDecoding:
    """The translations in progress of all members, in step."""

    members: list[Decoding]

    def step(self, tokens: Tensor) -> Tensor:
        """ln of the mean of the members' probabilities, B N: the mixture."""
        each = [member.step(tokens).log_softmax(-1) for member in self.members]
        return torch.stack(each).logsumexp(0) - math.log(len(each))

    def keep(self, rows: Tensor) -> None:
        for member in self.members:
            member.keep(rows)
