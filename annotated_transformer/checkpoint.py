"""Checkpoints: whole or not at all, resumed to the bit, averaged.   (Section 6.1)"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

import annotated_transformer
from annotated_transformer.batching import encode_pairs
from annotated_transformer.config import Config, Recipe
from annotated_transformer.corpus import Corpus
from annotated_transformer.model import Transformer, usable
from annotated_transformer.schedule import adam
from annotated_transformer.tokenizer import Tokenizer
from annotated_transformer.training import Entry, Training, start, train

Weights = dict[str, Tensor]

# What a resumed run may have otherwise than the one that was stopped.
FREE = {"steps", "minutes", "log_every", "validate_every", "keep", "patience"}
COUNTS = [
    f.name for f in fields(Training) if f.name not in ("model", "recipe", "optimizer")
]


class CheckpointError(RuntimeError):
    """A file can't be read, or does not belong here; the message names it."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that its name never stands for half of it.

    The bytes go to another name, are flushed to the disk, and take the name last: a
    kill or a full disk at any moment leaves what was there before.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_tensors(path: Path, tensors: Weights, about: dict[str, Any]) -> None:
    """Tensors and a description as one safetensors file, whole or not at all."""
    contiguous = {
        name: tensor.detach().contiguous() for name, tensor in tensors.items()
    }
    content = safetensors.torch.save(contiguous, {"about": json.dumps(about)})
    write_atomically(path, content)


def read_tensors(path: Path) -> tuple[Weights, dict[str, Any]]:
    """The tensors of a file and its description; nothing is unpickled.

    Raises:
        CheckpointError: the file is missing, cut short, or no safetensors file.
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise CheckpointError(f"{path} does not exist") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path} can't be read ({error}): delete it, and use an earlier one"
        ) from None


def weights_of(model: nn.Module) -> Weights:
    """Every trained tensor once, under one name: a tied matrix has two in the model."""
    return dict(model.named_parameters())


@torch.no_grad()
def set_weights(model: nn.Module, weights: Weights) -> None:
    """Copy weights into a model, in place, so that what is tied stays tied.

    Raises:
        CheckpointError: names or shapes differ.
    """
    mine = weights_of(model)
    if mine.keys() != weights.keys():
        odd = sorted(mine.keys() ^ weights.keys())
        raise CheckpointError(
            f"weights of another model: {len(odd)} names differ, {odd[0]} among them"
        )
    for name, parameter in mine.items():
        if parameter.shape != weights[name].shape:
            raise CheckpointError(
                f"weights of another model: {name} is {tuple(weights[name].shape)} in "
                f"the file, {tuple(parameter.shape)} in the model"
            )
        parameter.copy_(weights[name])


def save(
    path: Path | str, training: Training, made_from: Mapping[str, str] | None = None
) -> None:
    """Everything that training needs to go on to the same bits.

    Weights, both moments of Adam, the random states, the place in the data, the log.

    Args:
        made_from: what else decides the course, such as the tokenizer's checksum, by
            name; `resume` asks for the same.
    """
    tensors = {f"weights.{n}": t for n, t in weights_of(training.model).items()}
    for name, parameter in training.model.named_parameters():
        for moment, value in training.optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{moment}.{name}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    about = {
        "version": annotated_transformer.__version__,
        "made_from": dict(made_from or {}),
        "config": asdict(training.model.config),
        "recipe": asdict(training.recipe),
        "training": {name: getattr(training, name) for name in COUNTS},
    }
    write_tensors(Path(path), tensors, about)


def part(tensors: Weights, prefix: str) -> Weights:
    """The tensors whose names begin with a prefix, under the rest of their names."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def refuse_differences(
    path: Path, kept: Mapping, wanted: Mapping, free: set[str]
) -> None:
    """CheckpointError that names each field in which a run would change its course."""
    odd = [
        f"{name} was {kept.get(name)} and is {value}"
        for name, value in wanted.items()
        if name not in free and kept.get(name) != value
    ]
    if odd:
        raise CheckpointError(
            f"{path} was made otherwise: {'; '.join(odd)}. Give the same settings, or "
            f"start in another folder"
        )


def resume(
    path: Path | str,
    config: Config,
    recipe: Recipe,
    made_from: Mapping[str, str] | None = None,
    device: str = "cpu",
) -> Training:
    """Training as `save` left it: what follows is what would have followed, bit by bit.

    Raises:
        CheckpointError: the file is broken, or belongs to another model or recipe, or
            was made from something else; only how long to train and when to report
            may change.
        ValueError: there is no such device here.
    """
    path = Path(path)
    tensors, about = read_tensors(path)
    refuse_differences(path, about.get("config", {}), asdict(config), set())
    refuse_differences(path, about["recipe"], asdict(recipe), FREE)
    refuse_differences(path, about["made_from"], made_from or {}, set())
    model = Transformer(config).to(usable(device))
    set_weights(model, part(tensors, "weights."))
    training = Training(model, recipe, adam(model), **about["training"])
    for name, parameter in model.named_parameters():
        training.optimizer.state[parameter] = {
            moment: tensors[f"optimizer.{moment}.{name}"].to(
                "cpu" if moment == "step" and device == "cpu" else device
            )
            for moment in ("step", "exp_avg", "exp_avg_sq")
            if f"optimizer.{moment}.{name}" in tensors
        }
    torch.set_rng_state(tensors["random.cpu"])
    if device != "cpu" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return training


def average(paths: Iterable[Path | str]) -> Weights:
    """The mean of several checkpoints' weights, summed in float64.   (Section 6.1)

    Raises:
        CheckpointError: there is none, or they are not of one model.
    """
    total: Weights = {}
    count = 0
    for path in paths:
        tensors, _ = read_tensors(Path(path))
        weights = part(tensors, "weights.") or tensors
        if total and total.keys() != weights.keys():
            raise CheckpointError(f"{path} is of another model than those before it")
        for name, tensor in weights.items():
            total[name] = total.get(name, 0) + tensor.double()
        count += 1
    if not count:
        raise CheckpointError("there is no checkpoint to average")
    return {name: (tensor / count).float() for name, tensor in total.items()}


def checkpoints(folder: Path | str) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted((Path(folder) / "checkpoints").glob("step-*.safetensors"))


def describe(folder: Path, corpus: Corpus, training: Training, checksum: str) -> None:
    """Write config.json: what a folder's model is, and how it was trained."""
    about = {
        "version": annotated_transformer.__version__,
        "corpus": corpus.name,
        "source": corpus.source,
        "target": corpus.target,
        "tokenizer": checksum,
        "model": asdict(training.model.config),
        "recipe": asdict(training.recipe),
    }
    write_atomically(folder / "config.json", json.dumps(about, indent=2).encode())


def keep_log(path: Path, history: list[Entry]) -> None:
    """Begin log.jsonl with what a resumed run remembers, and drop what it repeats."""
    lines = "".join(json.dumps(entry) + "\n" for entry in history)
    write_atomically(path, lines.encode())


def train_in_folder(
    folder: Path | str,
    corpus: Corpus,
    tokenizer: Tokenizer,
    config: Config,
    recipe: Recipe,
    device: str = "cpu",
    report: Callable[[Entry], None] = lambda entry: None,
) -> Training:
    """Train on a corpus, or go on where the folder's last checkpoint stands.

    The folder gets config.json, tokenizer.model, log.jsonl, checkpoints/ and, at the
    end, weights.safetensors: the average of the last checkpoints.   (Section 6.1)

    Raises:
        CheckpointError: the folder holds a run with other settings or another corpus.
        ValueError: there is no such device here.
    """
    folder = Path(folder)
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    checksum = tokenizer.checksum
    made_from = {"tokenizer": checksum, "corpus": corpus.identity}
    if before := checkpoints(folder):
        training = resume(before[-1], config, recipe, made_from, device)
    else:
        training = start(config, recipe, device)
    write_atomically(folder / "tokenizer.model", tokenizer.model)
    describe(folder, corpus, training, checksum)
    keep_log(folder / "log.jsonl", training.history)

    def save_step(training: Training) -> None:
        name = f"step-{training.step:08}.safetensors"
        save(folder / "checkpoints" / name, training, made_from)
        for old in checkpoints(folder)[: -recipe.keep]:
            old.unlink()

    def log(entry: Entry) -> None:
        with open(folder / "log.jsonl", "a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(entry) + "\n")
        report(entry)

    examples, _ = encode_pairs(corpus.train, tokenizer)
    development, _ = encode_pairs(corpus.development.pairs(), tokenizer)
    train(training, examples, development, save_step, log)
    averaged = average(checkpoints(folder))
    write_tensors(folder / "weights.safetensors", averaged, {"tokenizer": checksum})
    return training
