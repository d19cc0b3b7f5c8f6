"""The rate of a step, and the optimizer."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer.config import TINY, Recipe
from annotated_transformer.schedule import adam, warmup_rate
from annotated_transformer.training import start, update


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (1, 1.746928e-7),
        (100, 1.746928e-5),
        (4000, 6.987712e-4),
        (8000, 4.941059e-4),
        (100_000, 1.397542e-4),
    ],
)
def test_rates_of_the_base_model(step, rate):
    assert warmup_rate(step, 512) == pytest.approx(rate, rel=1e-6)


def test_the_peak_of_the_big_model():
    assert warmup_rate(4000, 1024) == pytest.approx(4.941059e-4, rel=1e-6)


@given(step=st.integers(1, 2000), width=st.integers(8, 2048))
def test_warm_up_is_linear(step, width):
    assert warmup_rate(2 * step, width) == pytest.approx(2 * warmup_rate(step, width))


@given(step=st.integers(4000, 10**6))
def test_after_it_the_rate_falls_with_the_root(step):
    assert warmup_rate(4 * step, 512) == pytest.approx(warmup_rate(step, 512) / 2)
    assert warmup_rate(step + 1, 512) < warmup_rate(step, 512)


def test_the_first_update_is_step_1():
    with pytest.raises(ValueError, match="first update is step 1"):
        warmup_rate(0, 512)


def test_updates_use_the_rates_of_steps_1_2_3(batch):
    training = start(TINY, Recipe(warmup=10))
    rates = []
    for _ in range(3):
        update(training, [batch])
        rates.append(training.optimizer.param_groups[0]["lr"])
    assert rates == [warmup_rate(step, TINY.d_model, 10) for step in (1, 2, 3)]


def test_accumulation_does_not_hurry_the_rate(batch):
    training = start(TINY, Recipe(accumulate=4))
    for _ in range(2):
        update(training, [batch] * 4)
    assert training.optimizer.param_groups[0]["lr"] == warmup_rate(2, TINY.d_model)


def test_adam_is_the_papers_and_holds_a_tied_matrix_once():
    training = start(TINY, Recipe())
    [group] = adam(training.model).param_groups
    assert group["betas"] == (0.9, 0.98) and group["eps"] == 1e-9
    assert group["weight_decay"] == 0
    pointers = [p.data_ptr() for p in group["params"]]
    assert len(set(pointers)) == len(pointers)


def test_the_first_step_of_adam_moves_each_weight_by_the_rate():
    linear = torch.nn.Linear(3, 2, bias=False)
    optimizer = adam(linear)
    optimizer.param_groups[0]["lr"] = 0.01
    before = linear.weight.detach().clone()
    linear(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.testing.assert_close(before - linear.weight, torch.full((2, 3), 0.01))
