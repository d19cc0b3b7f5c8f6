"""Greedy and beam search against tables, brute force and each other."""

import itertools
import math
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from annotated_transformer import search
from annotated_transformer.config import TINY
from annotated_transformer.model import Transformer
from annotated_transformer.search import Ensemble, beam, greedy, length_penalty
from annotated_transformer.tokenizer import BOS, EOS, PAD

WORDS = (4, 5, 6)  # with the end mark, a vocabulary of four


@dataclass
class Table:
    """A model whose next token depends on the last two: logits, N N N."""

    logits: Tensor
    before: Tensor | None = None
    now: Tensor | None = None

    def begin(self, source: Tensor) -> "Table":
        start = torch.full((len(source),), BOS)
        return Table(self.logits, start, start)

    def step(self, tokens: Tensor) -> Tensor:
        self.before, self.now = self.now, tokens
        return self.logits[self.before, self.now]

    def keep(self, rows: Tensor) -> None:
        self.now = self.now[rows]

    def log_probability(self, tokens: tuple[int, ...]) -> float:
        log = self.logits.double().log_softmax(-1)
        path = [BOS, BOS, *tokens, EOS]
        return sum(log[a, b, c].item() for a, b, c in zip(path, path[1:], path[2:]))  # noqa: B905


def table(seed: int, spread: float = 2.0) -> Table:
    logits = spread * torch.randn(
        7, 7, 7, generator=torch.Generator().manual_seed(seed)
    )
    logits[..., [PAD, BOS, 3]] = -math.inf
    return Table(logits)


def best_of_all(
    model: Table, longest: int, alpha: float
) -> tuple[float, tuple[int, ...]]:
    sentences = itertools.chain.from_iterable(
        itertools.product(WORDS, repeat=length) for length in range(longest + 1)
    )
    return max(
        (model.log_probability(s) / length_penalty(len(s) + 1, alpha), s)
        for s in sentences
    )


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 1.0, 2.0])
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all(alpha):
    source = torch.tensor([[EOS]])
    for seed in range(200):
        model = table(seed)
        [[found]] = beam(model, source, size=400, alpha=alpha, extra=4)
        score, tokens = best_of_all(model, 4, alpha)
        assert found.finished
        assert found.score == pytest.approx(score, abs=1e-5)
        assert tuple(found.tokens) == tokens


@pytest.mark.parametrize("alpha", [-1.0, 0.0, 0.6, 1.0, 2.0])
def test_stopping_early_loses_nothing(alpha, monkeypatch):
    source = torch.tensor([[4, 5, EOS]])
    for seed in range(60):
        model = table(seed)
        [[stopped]] = beam(model, source, size=3, alpha=alpha, extra=6)
        with monkeypatch.context() as patch:
            patch.setattr(search.Beam, "can_improve", lambda self: True)
            [[to_the_end]] = beam(model, source, size=3, alpha=alpha, extra=6)
        assert stopped == to_the_end


def test_the_search_does_stop_before_its_limit():
    steps = []
    beam(
        table(1),
        torch.tensor([[4, EOS]]),
        extra=40,
        watch=lambda *seen: steps.append(seen),
    )
    assert len(steps) < 30


def test_length_penalties_and_which_of_two_wins():
    expected = {1: 1.0, 5: 1.358655, 6: 1.438616, 10: 1.732862, 20: 2.354362}
    for length, value in expected.items():
        assert length_penalty(length, 0.6) == pytest.approx(value, abs=1e-6)
    assert -4 / length_penalty(5, 0.6) == pytest.approx(-2.944088, abs=1e-6)
    assert -4.8 / length_penalty(10, 0.6) > -4 / length_penalty(5, 0.6)
    assert -4.8 / length_penalty(10, 0) < -4 / length_penalty(5, 0)


@pytest.mark.parametrize("alpha", [math.nan, math.inf, -1e9])
def test_a_penalty_that_would_overflow_or_rank_nothing_is_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha=.* must be within ±100"):
        beam(table(1), torch.tensor([[4, EOS]]), alpha=alpha)
    assert math.isfinite(length_penalty(5000, 100))


def test_a_score_is_of_all_its_tokens_with_the_end_mark():
    model = table(3)
    for found in beam(model, torch.tensor([[4, 5, EOS]]), size=4, best=4)[0]:
        if found.finished:
            total = model.log_probability(tuple(found.tokens))
            assert found.log_probability == pytest.approx(total, abs=1e-5)
            assert found.score == pytest.approx(
                total / length_penalty(len(found.tokens) + 1, 0.6), abs=1e-5
            )


def test_hypotheses_of_one_beam_are_different_and_in_order():
    for seed in range(20):
        [found] = beam(table(seed), torch.tensor([[4, 5, EOS]]), size=4, best=4)
        assert len({(*one.tokens, one.finished) for one in found}) == len(found)
        finished = [one.score for one in found if one.finished]
        assert finished == sorted(finished, reverse=True)
        assert [one.finished for one in found] == sorted(
            (one.finished for one in found), reverse=True
        )


def test_after_the_first_step_all_of_a_beam_are_different():
    seen = []
    beam(
        table(0),
        torch.tensor([[4, EOS]]),
        size=3,
        watch=lambda _, b: seen.append(list(b.alive)),
    )
    assert len({tuple(tokens) for tokens, _ in seen[0]}) == len(seen[0]) == 3


def transformer(seed: int = 0, **more) -> Transformer:
    torch.manual_seed(seed)
    config = replace(TINY, vocabulary=12, d_model=16, d_ff=24, heads=2, **more)
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # sharper, so that choices matter
            parameter.mul_(1.5)
    return model


def sources(count: int = 8) -> Tensor:
    random = torch.Generator().manual_seed(5)
    rows = torch.randint(4, 12, (count, 9), generator=random)
    for number, row in enumerate(rows):
        row[2 + number % 6] = EOS
        row[3 + number % 6 :] = PAD
    return rows


class Uncached:
    """The same model, which reads the whole prefix again at each step."""

    def __init__(self, model: Transformer) -> None:
        self.model = model

    def begin(self, source: Tensor) -> "Uncached":
        made = Uncached(self.model)
        made.source, made.prefix = source, torch.empty(len(source), 0, dtype=torch.long)
        return made

    def step(self, tokens: Tensor) -> Tensor:
        self.prefix = torch.cat([self.prefix, tokens[:, None]], dim=1)
        return self.model(self.source, self.prefix)[:, -1]

    def keep(self, rows: Tensor) -> None:
        self.source, self.prefix = self.source[rows], self.prefix[rows]


def alike(one: list, other: list) -> None:
    for a, b in zip(one, other, strict=True):
        assert (a.tokens, a.finished) == (b.tokens, b.finished)
        assert a.score == pytest.approx(b.score, abs=1e-4)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("more", [{}, {"pre_norm": True}])
def test_with_the_cache_and_without_it(size, more):
    model = transformer(**more)
    cached = [best for best, *_ in beam(model, sources(), size=size, extra=6)]
    plain = [best for best, *_ in beam(Uncached(model), sources(), size=size, extra=6)]
    alike(cached, plain)


@settings(max_examples=10)
@given(seed=st.integers(0, 50), size=st.integers(1, 5))
def test_sentences_do_not_know_of_their_batch(seed, size):
    model = transformer(seed)
    together = [best for best, *_ in beam(model, sources(), size=size, extra=5)]
    alone = []
    for row in sources():
        row = row[row != PAD][None]
        alone.append(beam(model, row, size=size, extra=5)[0][0])
    alike(together, alone)


def test_a_beam_of_1_is_greedy_search():
    model = transformer()
    alike(
        [best for best, *_ in beam(model, sources(), size=1)], greedy(model, sources())
    )


def test_greedy_takes_the_likeliest_token_each_time_and_stops_at_the_end_mark():
    for seed in range(20):
        model = table(seed)
        [found] = greedy(model, torch.tensor([[4, EOS]]), extra=8)
        path = [BOS, BOS]
        while len(path) < 2 + len(found.tokens):
            path.append(int(model.logits[path[-2], path[-1]].argmax()))
        assert path[2:] == found.tokens
        assert EOS not in found.tokens
        last = int(model.logits[path[-2], path[-1]].argmax())
        assert (last == EOS) == found.finished


def test_the_encoder_runs_once_and_finished_sentences_leave_the_batch():
    model, rows, encoded = transformer(), [], []
    model.decoder[0].register_forward_hook(
        lambda _m, given, _o: rows.append(len(given[0]))
    )
    model.encoder[0].register_forward_hook(lambda _m, given, _o: encoded.append(1))
    found = greedy(model, sources(), extra=6)
    assert encoded == [1]
    assert rows == sorted(rows, reverse=True)
    assert sum(rows) == sum(len(f.tokens) + f.finished for f in found) + sum(
        not f.finished for f in found
    )


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("extra", [0, 2, 50])
def test_without_an_end_mark_the_limit_is_the_input_and_extra_and_is_marked(
    size, extra
):
    model = table(0)
    model.logits[..., EOS] = -math.inf
    source = torch.tensor([[4, 5, 6, EOS], [4, EOS, PAD, PAD]])
    for [found], words in zip(
        beam(model, source, size=size, extra=extra), (3, 1), strict=True
    ):
        assert not found.finished
        assert len(found.tokens) == words + extra


@pytest.mark.parametrize("size", [1, 3])
def test_an_end_mark_right_after_the_last_allowed_token_still_counts(size):
    logits = torch.full((7, 7, 7), -20.0)
    logits[BOS, BOS, 4] = logits[BOS, 4, 5] = logits[4, 5, EOS] = 20.0
    [[found]] = beam(Table(logits), torch.tensor([[EOS]]), size=size, extra=2)
    assert (found.tokens, found.finished) == ([4, 5], True)


@pytest.mark.parametrize(("size", "best"), [(0, 1), (4, 0), (4, 5), (-1, 1)])
def test_a_beam_that_can_not_be_is_refused(size, best):
    with pytest.raises(ValueError, match=rf"size={size} and best={best}"):
        beam(table(0), torch.tensor([[EOS]]), size=size, best=best)


@dataclass
class Fixed:
    probabilities: list[float]

    def begin(self, source: Tensor) -> "Fixed":
        return self

    def step(self, tokens: Tensor) -> Tensor:
        return torch.tensor([self.probabilities]).log().expand(len(tokens), -1)

    def keep(self, rows: Tensor) -> None:
        pass


def test_an_ensemble_is_the_mean_of_probabilities_and_not_of_logarithms():
    both = Ensemble([Fixed([0.9, 0.1]), Fixed([0.01, 0.99])]).begin(
        torch.tensor([[EOS]])
    )
    mixture = both.step(torch.tensor([BOS])).exp()
    torch.testing.assert_close(mixture, torch.tensor([[0.455, 0.545]]))
    certain = Ensemble([Fixed([1.0, 0.0]), Fixed([0.5, 0.5])]).begin(
        torch.tensor([[EOS]])
    )
    torch.testing.assert_close(
        certain.step(torch.tensor([BOS])).exp(), torch.tensor([[0.75, 0.25]])
    )


def test_an_ensemble_of_one_model_twice_is_that_model():
    model = transformer()
    one = [best for best, *_ in beam(model, sources(), extra=5)]
    alike(
        one, [best for best, *_ in beam(Ensemble([model, model]), sources(), extra=5)]
    )
