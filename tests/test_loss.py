"""Label smoothing and perplexity."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from annotated_transformer.loss import label_smoothed_loss, perplexity


def test_values_worked_out_by_hand():
    # ε = 0.4 over 5 classes: 0.08 to each, and 0.6 more to the target.
    probabilities = torch.tensor([0.05, 0.2, 0.6, 0.1, 0.05])
    logits = probabilities.log().repeat(2, 1)
    first, _ = label_smoothed_loss(logits[:1], torch.tensor([2]), 0.4)
    second, _ = label_smoothed_loss(logits[:1], torch.tensor([1]), 0.4)
    by_hand = -sum(
        (0.08 + 0.6 * (k == 2)) * math.log(p)
        for k, p in enumerate([0.05, 0.2, 0.6, 0.1, 0.05])
    )
    assert first.item() == pytest.approx(by_hand, rel=1e-5)
    assert first.item() == pytest.approx(1.139640, abs=1e-5)
    assert second.item() == pytest.approx(1.798808, abs=1e-5)


@given(smoothing=st.floats(0, 0.9), scale=st.floats(0.1, 30), seed=st.integers(0, 99))
def test_it_equals_the_librarys_whatever_the_scale(smoothing, scale, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(3, 4, 7, generator=generator)
    targets = torch.randint(0, 7, (3, 4), generator=generator)
    targets[0, 0] = 1
    ours, tokens = label_smoothed_loss(logits, targets, smoothing)
    theirs = functional.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=0,
        reduction="sum",
        label_smoothing=smoothing,
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    assert tokens == (targets != 0).sum()


def test_without_smoothing_equal_logits_cost_ln_n():
    loss, tokens = label_smoothed_loss(
        torch.zeros(1, 5, 10), torch.ones(1, 5).long(), 0.0
    )
    assert loss.item() / tokens == pytest.approx(math.log(10))
    assert perplexity(loss.item(), tokens) == pytest.approx(10)


@pytest.mark.parametrize(("targets", "count"), [([2, 1], 2), ([2, 0], 1), ([0, 0], 0)])
def test_no_padding_some_and_nothing_but_padding(targets, count):
    logits = torch.randn(2, 5, requires_grad=True)
    loss, tokens = label_smoothed_loss(logits, torch.tensor(targets), 0.1)
    loss.backward()
    assert tokens == count and loss.isfinite() and logits.grad.isfinite().all()
    assert (loss.item() == 0) == (count == 0)


@given(padding=st.integers(0, 40), seed=st.integers(0, 99))
def test_padding_changes_neither_loss_nor_gradient(padding, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, 10, 7, generator=generator)
    targets = torch.randint(1, 7, (2, 10), generator=generator)
    wide = functional.pad(logits, (0, 0, 0, padding), value=3.0).requires_grad_()
    narrow = logits.clone().requires_grad_()
    plain, count = label_smoothed_loss(narrow, targets, 0.1)
    padded, same = label_smoothed_loss(wide, functional.pad(targets, (0, padding)), 0.1)
    plain.backward()
    padded.backward()
    assert count == same
    torch.testing.assert_close(plain, padded)
    torch.testing.assert_close(narrow.grad, wide.grad[:, :10])
    assert not wide.grad[:, 10:].any()


def test_the_loss_has_a_floor_above_0():
    n, smoothing = 37_000, 0.1
    target, other = 1 - smoothing + smoothing / n, smoothing / n
    best = torch.full((1, n), math.log(other))
    best[0, 1] = math.log(target)
    loss, _ = label_smoothed_loss(best, torch.tensor([1]), smoothing)
    floor = -target * math.log(target) - (n - 1) * other * math.log(other)
    assert loss.item() == pytest.approx(floor, rel=1e-4)
    assert loss.item() == pytest.approx(1.377, abs=0.01)


def test_half_precision_logits_are_summed_in_single():
    logits = torch.full((1, 3, 100), 50.0, dtype=torch.bfloat16)
    loss, _ = label_smoothed_loss(logits, torch.ones(1, 3).long(), 0.1)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(3 * math.log(100), rel=1e-4)


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"need targets \(2, 3\), not \(3, 2\)"):
        label_smoothed_loss(torch.zeros(2, 3, 5), torch.zeros(3, 2).long(), 0.1)
