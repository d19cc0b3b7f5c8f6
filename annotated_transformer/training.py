"""The training loop: steps, accumulation, validation, stop and go on.   (Section 5)"""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from annotated_transformer.attention import padding_mask
from annotated_transformer.batching import Batch, Batches, Example
from annotated_transformer.config import Config, Recipe
from annotated_transformer.loss import label_smoothed_loss, perplexity
from annotated_transformer.model import Transformer, usable
from annotated_transformer.schedule import adam, warmup_rate
from annotated_transformer.tokenizer import PAD

Entry = dict[str, Any]  # one line of the log


class TrainingError(RuntimeError):
    """Training can't go on; the message says at which step, and what to do."""


@dataclass
class Training:
    """All that changes while a model trains: what a checkpoint has to hold."""

    model: Transformer
    recipe: Recipe
    optimizer: torch.optim.Optimizer
    step: int = 0  # updates made
    epoch: int = 0
    batch: int = 0  # micro-batches taken from this epoch
    tokens: int = 0  # target tokens seen
    seconds: float = 0.0  # spent in training, over all its parts
    best: float = math.inf  # lowest perplexity on the development set
    waited: int = 0  # validations since then
    interval_loss: float = 0.0  # nats, summed since the last entry of the log
    interval_tokens: int = 0
    history: list[Entry] = field(default_factory=list)

    @property
    def device(self) -> torch.device:
        return self.model.device


def start(config: Config, recipe: Recipe, device: str = "cpu") -> Training:
    """A new model with its optimizer; the seed decides all that comes.

    Raises:
        ValueError: there is no such device here.
    """
    place = usable(device)
    torch.manual_seed(recipe.seed)
    model = Transformer(config).to(place)
    return Training(model, recipe, adam(model))


def batch_loss(
    model: Transformer, batch: Batch, smoothing: float
) -> tuple[Tensor, int]:
    """The loss of a batch, summed, and its tokens; no logits are made for padding."""
    memory = model.encode(batch.source)  # B S D
    states = model.decode(batch.inputs, memory, padding_mask(batch.source))  # B T D
    real = batch.labels != PAD
    logits = model.logits(states[real])
    return label_smoothed_loss(logits, batch.labels[real], smoothing)


def micro_batches(training: Training, batches: Batches) -> Iterator[Batch]:
    """Batches without end, epoch after epoch, from where `training` stands."""
    while True:
        for batch in batches.epoch(training.epoch, skip=training.batch):
            training.batch += 1
            yield batch.to(training.device)
        training.epoch, training.batch = training.epoch + 1, 0


def update(training: Training, batches: Sequence[Batch]) -> float:
    """One step on the micro-batches together; the mean loss in nats per token.

    The gradient is that of the mean over all tokens of the step. A mean of the
    micro-batches' means would give a token in a small one more weight.

    Raises:
        TrainingError: the loss is not finite; the weights are left as they were.
    """
    recipe, model = training.recipe, training.model.train()
    tokens = sum(batch.tokens for batch in batches)
    total = 0.0
    training.optimizer.zero_grad()
    for batch in batches:
        with torch.autocast(training.device.type, torch.bfloat16, recipe.bf16):
            loss, _ = batch_loss(model, batch, recipe.smoothing)
        (loss / tokens).backward()
        total += loss.item()
    if not math.isfinite(total):
        raise TrainingError(
            f"the loss at step {training.step + 1} is {total}: go on from the last "
            f"checkpoint with a lower rate or a longer warmup"
        )
    training.step += 1
    training.tokens += tokens
    training.interval_loss += total
    training.interval_tokens += tokens
    rate = warmup_rate(training.step, model.config.d_model, recipe.warmup)
    for group in training.optimizer.param_groups:
        group["lr"] = recipe.rate * rate
    training.optimizer.step()
    return total / tokens


@torch.no_grad()
def validate(model: Transformer, batches: Sequence[Batch]) -> float:
    """Perplexity per piece on batches, dropout off, nothing smoothed.   (Table 3)"""
    training = model.training
    model.eval()
    total, tokens = 0.0, 0
    for batch in batches:
        loss, count = batch_loss(model, batch, smoothing=0.0)
        total, tokens = total + loss.item(), tokens + count
    model.train(training)
    return perplexity(total, tokens)


@contextmanager
def deferred_signals() -> Iterator[list[int]]:
    """Collect SIGTERM and Ctrl-C, so that a step ends and is saved before they act."""
    received: list[int] = []
    kinds = (signal.SIGINT, signal.SIGTERM)
    try:
        before = [signal.signal(k, lambda k, _: received.append(k)) for k in kinds]
    except ValueError:  # not in the main thread, where nobody sends signals
        yield received
        return
    try:
        yield received
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def finished(training: Training) -> bool:
    """True when the steps, the minutes or the patience of the recipe are used up."""
    recipe = training.recipe
    return (
        training.step >= recipe.steps
        or (recipe.minutes is not None and training.seconds >= 60 * recipe.minutes)
        or (recipe.patience is not None and training.waited >= recipe.patience)
    )


def interval_entry(training: Training) -> Entry:
    """The mean loss since the last such entry, in nats per token, and the rate."""
    entry = {
        "step": training.step,
        "loss": training.interval_loss / training.interval_tokens,
        "rate": training.optimizer.param_groups[0]["lr"],
        "tokens": training.tokens,
        "seconds": round(training.seconds, 1),
    }
    training.interval_loss, training.interval_tokens = 0.0, 0
    return entry


def validation_entry(training: Training, held_out: Sequence[Batch]) -> Entry:
    """Perplexity on the development set; counts how long there was no gain."""
    now = validate(training.model, held_out)
    training.waited = 0 if now < training.best else training.waited + 1
    training.best = min(training.best, now)
    return {
        "step": training.step,
        "perplexity": now,
        "best": training.best,
        "seconds": round(training.seconds, 1),
    }


def train(
    training: Training,
    examples: Sequence[Example],
    development: Sequence[Example],
    save: Callable[[Training], None] = lambda training: None,
    report: Callable[[Entry], None] = lambda entry: None,
) -> Training:
    """Train until the steps, the minutes or the patience of the recipe run out.

    Args:
        training: from `start`, or from a checkpoint; it is changed in place.
        examples, development: numbers of pieces, from `batching.encode_pairs`.
        save: called after each validation, and before the loop ends for any reason.
        report: called with each entry of the log as it is made.
    Raises:
        TrainingError: the loss was not finite; the last checkpoint is untouched.
        KeyboardInterrupt, SystemExit: Ctrl-C or SIGTERM, after saving.
    """
    recipe = training.recipe
    if recipe.bf16:
        # oneDNN keeps 1,024 kernels, one for each shape that it has met: gigabytes
        # for batches of many shapes, and no slower without.
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")
    # As many micro-batches as the memory needs, the same tokens a step.
    budget = recipe.tokens // recipe.accumulate
    stream = micro_batches(training, Batches(examples, budget, recipe.seed))
    held_out = [b.to(training.device) for b in Batches(development, budget).epoch(0)]

    def note(entry: Entry) -> None:
        training.history.append(entry)
        report(entry)

    began = time.monotonic() - training.seconds
    bar = tqdm(
        desc="train",
        unit="step",
        total=recipe.steps,
        initial=training.step,
        disable=None,
    )
    with bar, deferred_signals() as signals:
        while not finished(training) and not signals:
            update(training, [next(stream) for _ in range(recipe.accumulate)])
            bar.update()
            training.seconds = time.monotonic() - began
            if training.step % recipe.log_every == 0:
                note(interval_entry(training))
            if training.step % recipe.validate_every == 0 or finished(training):
                note(validation_entry(training, held_out))
                save(training)
        if signals:
            save(training)
    if signals:
        raise KeyboardInterrupt if signals[0] == signal.SIGINT else SystemExit(143)
    return training
