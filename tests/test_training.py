"""The loop: gradients of a step, stop and go on, what it says and when."""

import math
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer.batching import collate
from annotated_transformer.config import TINY, Recipe
from annotated_transformer.tokenizer import BOS, EOS, PAD
from annotated_transformer.training import (
    TrainingError,
    batch_loss,
    start,
    train,
    update,
    validate,
)

SIZES = replace(TINY, vocabulary=40, d_model=16, d_ff=24, heads=2, layers=1)
RECIPE = Recipe(steps=12, tokens=60, warmup=5, log_every=3, validate_every=6)


def examples(count: int = 60, seed: int = 0) -> list:
    random = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        words = torch.randint(
            4, 40, (int(torch.randint(1, 7, (), generator=random)),), generator=random
        )
        made.append(([*words.tolist(), EOS], [BOS, *words.flip(0).tolist(), EOS]))
    return made


def gradients(model) -> list[torch.Tensor]:
    return [p.grad.clone() for p in model.parameters()]


def first_update(batches: list, **more) -> tuple[list[torch.Tensor], float]:
    training = start(SIZES, replace(RECIPE, **more))
    loss = update(training, batches)
    return gradients(training.model), loss


@given(cut=st.integers(1, 11), seed=st.integers(0, 20))
def test_a_step_in_parts_is_the_step_at_once(cut, seed):
    rows = examples(12, seed)
    whole, loss = first_update([collate(rows)])
    parts, same = first_update([collate(rows[:cut]), collate(rows[cut:])])
    assert same == pytest.approx(loss, rel=1e-5)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_parts_count_by_their_tokens_and_not_alike():
    long, short = examples(60)[:8], [([5, EOS], [BOS, EOS])]
    training = start(SIZES, RECIPE)
    sums = [batch_loss(training.model, collate(rows), 0.1) for rows in (long, short)]
    expected = sum(loss.item() for loss, _ in sums) / sum(count for _, count in sums)
    assert update(training, [collate(long), collate(short)]) == pytest.approx(expected)


def test_padding_does_not_change_a_step():
    rows = examples(6)
    batch = collate(rows)
    wide = replace(
        batch,
        source=torch.nn.functional.pad(batch.source, (0, 9), value=PAD),
        target=torch.nn.functional.pad(batch.target, (0, 9), value=PAD),
    )
    for one, other in zip(
        first_update([batch])[0], first_update([wide])[0], strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_gradients_of_one_step_do_not_reach_the_next():
    batch = collate(examples(6))
    training = start(SIZES, RECIPE)
    update(training, [batch])
    weights = {n: p.detach().clone() for n, p in training.model.named_parameters()}
    update(training, [batch])
    fresh = start(SIZES, RECIPE)
    with torch.no_grad():
        for name, parameter in fresh.model.named_parameters():
            parameter.copy_(weights[name])
    update(fresh, [batch])
    for one, other in zip(
        gradients(training.model), gradients(fresh.model), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_no_logits_are_made_for_padding():
    model, widths = start(SIZES, RECIPE).model, []
    model.embedding.output.register_forward_hook(
        lambda _module, given, _out: widths.append(given[0].shape)
    )
    batch = collate([([5, EOS], [BOS, EOS]), ([5, EOS], [BOS, 6, 7, 8, EOS])])
    _, tokens = batch_loss(model, batch, 0.1)
    assert widths == [(5, 16)] and tokens == batch.tokens == 5


def test_loss_of_a_batch_is_the_loss_of_the_forward_pass():
    from annotated_transformer.loss import label_smoothed_loss

    model, batch = start(SIZES, RECIPE).model.eval(), collate(examples(7))
    loss, tokens = batch_loss(model, batch, 0.1)
    logits = model(batch.source, batch.inputs)
    expected, same = label_smoothed_loss(logits, batch.labels, 0.1)
    torch.testing.assert_close(loss, expected)
    assert tokens == same


def test_it_learns_to_reverse_and_says_so_in_order():
    recipe = replace(
        RECIPE, steps=60, warmup=30, tokens=300, log_every=20, validate_every=30
    )
    said = []
    training = train(
        start(SIZES, recipe), examples(400), examples(20), report=said.append
    )
    assert [entry["step"] for entry in said] == [20, 30, 40, 60, 60]
    losses = [entry["loss"] for entry in said if "loss" in entry]
    assert losses == sorted(losses, reverse=True)
    assert said == training.history
    assert training.best == min(e["perplexity"] for e in said if "perplexity" in e)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    def weights(**more) -> list:
        config = replace(SIZES, dropout=0.2)
        trained = train(start(config, replace(RECIPE, **more)), examples(), examples(5))
        return [p.detach().clone() for p in trained.model.parameters()]

    first, again, other = weights(), weights(), weights(seed=1)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first[:3], other[:3], strict=True))


def test_accumulation_keeps_the_tokens_of_a_step():
    tokens = []
    for accumulate in (1, 3):
        recipe = replace(RECIPE, tokens=240, accumulate=accumulate, steps=20)
        trained = train(start(SIZES, recipe), examples(1500), examples(5))
        tokens.append(trained.tokens / trained.step)
    assert tokens[1] == pytest.approx(tokens[0], rel=0.1)


def test_an_epochs_last_batches_are_not_left_in_the_gradients():
    recipe = replace(RECIPE, tokens=40, accumulate=4, steps=30)
    trained = train(start(SIZES, recipe), examples(23), examples(5))
    assert trained.step == 30 and trained.epoch > 1


def test_validation_smooths_nothing_drops_nothing_and_leaves_the_mode():
    model = start(replace(SIZES, dropout=0.5), RECIPE).model.train()
    batch = collate(examples(9))
    values = {validate(model, [batch]) for _ in range(3)}
    assert len(values) == 1 and model.training
    loss, tokens = batch_loss(model.eval(), batch, 0.0)
    assert values.pop() == pytest.approx(math.exp(loss.item() / tokens))


def test_validation_of_parts_is_validation_of_the_whole():
    model, rows = start(SIZES, RECIPE).model, examples(9)
    parts = [collate(rows[:2]), collate(rows[2:])]
    assert validate(model, parts) == pytest.approx(
        validate(model, [collate(rows)]), rel=1e-5
    )


def test_patience_ends_training_after_so_many_validations_without_a_gain():
    recipe = replace(RECIPE, steps=500, validate_every=1, patience=3, rate=1e-12)
    model = start(SIZES, recipe)
    model.best = 0.0  # nothing can be better
    assert train(model, examples(), examples(5)).step == 3


def test_minutes_count_over_all_parts_of_a_run():
    training = start(SIZES, replace(RECIPE, minutes=1.0, steps=10**6))
    training.seconds = 59.999
    assert train(training, examples(), examples(5)).step < 1000


def test_a_loss_that_is_not_finite_names_its_step_and_changes_no_weight():
    training = start(SIZES, RECIPE)
    train_part = replace(RECIPE, steps=4)
    training.recipe = train_part
    train(training, examples(), examples(5))
    with torch.no_grad():
        training.model.embedding.table.weight[5] = math.inf
    before = [p.detach().clone() for p in training.model.parameters()]
    training.recipe = replace(RECIPE, steps=9)
    with pytest.raises(TrainingError, match=r"step 5 is (nan|inf).*lower rate"):
        train(training, [([5, EOS], [BOS, 5, EOS])] * 20, examples(5))
    for old, new in zip(before, training.model.parameters(), strict=True):
        torch.testing.assert_close(old, new, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("kind", "error"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)],
)
def test_a_signal_ends_the_step_saves_and_then_acts(kind, error):
    saved = []

    def interrupt(_entry) -> None:
        signal.raise_signal(kind)

    training = start(SIZES, replace(RECIPE, steps=100))
    with pytest.raises(error):
        train(
            training, examples(), examples(5), lambda t: saved.append(t.step), interrupt
        )
    assert saved == [3]
    assert signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.Handlers.SIG_DFL)


def test_bfloat16_products_leave_weights_in_single_precision():
    losses = []
    for bf16 in (False, True):
        training = start(SIZES, replace(RECIPE, bf16=bf16))
        losses.append(update(training, [collate(examples(12))]))
        assert {p.dtype for p in training.model.parameters()} == {torch.float32}
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


GROWTH = """
import psutil, random, sys
from annotated_transformer import training
from annotated_transformer.config import TINY, Recipe

def sentence():
    return [random.randint(4, 999) for _ in range(random.randint(3, 40))]

random.seed(0)
examples = [([*sentence(), 2], [1, *sentence(), 2]) for _ in range(30_000)]
held = {}

def measure(entry):
    held[entry["step"]] = psutil.Process().memory_info().rss

recipe = Recipe(bf16=sys.argv[1] == "bf16", tokens=400, steps=400, log_every=40)
training.train(training.start(TINY, recipe), examples, examples[:10], report=measure)
print(held[400] / held[40])
"""


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_batches_of_ever_new_shapes_do_not_fill_the_memory(precision):
    command = [sys.executable, "-c", GROWTH, precision]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert float(done.stdout) < 1.1
