"""Checkpoints: whole or not at all, to the bit, of the right model, averaged."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import safetensors.torch
import torch

from annotated_transformer import checkpoint, tokenizer
from annotated_transformer.checkpoint import CheckpointError
from annotated_transformer.config import TINY, Config, Recipe
from annotated_transformer.corpus import Corpus, Split
from annotated_transformer.schedule import warmup_rate
from annotated_transformer.training import start, train

from .test_training import RECIPE, SIZES, examples

DROPPING = replace(SIZES, dropout=0.3)


def bits(training) -> list[torch.Tensor]:
    moments = [
        training.optimizer.state[p][key]
        for p in training.model.parameters()
        for key in ("exp_avg", "exp_avg_sq", "step")
    ]
    return [*(p.detach().clone() for p in training.model.parameters()), *moments]


def same(one, other) -> bool:
    return all(torch.equal(a, b) for a, b in zip(bits(one), bits(other), strict=True))


@pytest.mark.parametrize("stop", [1, 5, 6, 10, 19])
@pytest.mark.parametrize("accumulate", [1, 3])
def test_stopped_and_resumed_is_the_unbroken_run_to_the_bit(tmp_path, stop, accumulate):
    recipe = replace(RECIPE, steps=20, accumulate=accumulate)
    unbroken = train(start(DROPPING, recipe), examples(), examples(5))
    first = start(DROPPING, replace(recipe, steps=stop))
    train(first, examples(), examples(5))
    checkpoint.save(tmp_path / "step.safetensors", first)
    torch.manual_seed(123)  # whatever else has happened since
    resumed = checkpoint.resume(tmp_path / "step.safetensors", DROPPING, recipe)
    train(resumed, examples(), examples(5))
    assert resumed.step == 20 and same(unbroken, resumed)
    assert (resumed.tokens, resumed.epoch) == (unbroken.tokens, unbroken.epoch)


def test_a_resumed_run_has_its_moments_and_its_rate(tmp_path):
    path, recipe = tmp_path / "step.safetensors", replace(RECIPE, steps=10)
    checkpoint.save(path, train(start(SIZES, recipe), examples(), examples(5)))
    resumed = checkpoint.resume(path, SIZES, replace(recipe, steps=11))
    assert len(resumed.optimizer.state) == len([*resumed.model.parameters()])
    assert {s["step"].item() for s in resumed.optimizer.state.values()} == {10}
    assert all(s["exp_avg"].any() for s in resumed.optimizer.state.values())
    train(resumed, examples(), examples(5))
    rate = resumed.optimizer.param_groups[0]["lr"]
    assert rate == warmup_rate(11, SIZES.d_model, RECIPE.warmup)


@pytest.mark.parametrize(
    ("config", "recipe", "checksum", "message"),
    [
        ({"d_ff": 48}, {}, "a", "d_ff was 24 and is 48"),
        (
            {"heads": 4, "pre_norm": True},
            {},
            "a",
            r"heads was 2 and is 4; pre_norm was",
        ),
        ({}, {"seed": 3}, "a", "seed was 0 and is 3"),
        ({}, {"tokens": 61}, "a", "tokens was 60 and is 61"),
        ({}, {}, "b", "tokenizer was a and is b"),
    ],
)
def test_another_model_recipe_or_tokenizer_is_refused_by_field(
    tmp_path, config, recipe, checksum, message
):
    path = tmp_path / "step.safetensors"
    checkpoint.save(path, start(SIZES, RECIPE), {"tokenizer": "a"})
    with pytest.raises(CheckpointError, match=message):
        checkpoint.resume(
            path,
            replace(SIZES, **config),
            replace(RECIPE, **recipe),
            {"tokenizer": checksum},
        )


def test_how_long_to_train_may_change(tmp_path):
    path = tmp_path / "step.safetensors"
    checkpoint.save(path, start(SIZES, RECIPE))
    free = {"steps": 99, "minutes": 3.0, "log_every": 7, "keep": 2, "patience": 4}
    assert checkpoint.resume(path, SIZES, replace(RECIPE, **free)).recipe.steps == 99


def test_a_file_cut_at_any_byte_is_refused_by_name(tmp_path):
    path, cut = tmp_path / "step.safetensors", tmp_path / "cut.safetensors"
    checkpoint.save(path, start(SIZES, RECIPE))
    content = path.read_bytes()
    for length in [0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1]:
        cut.write_bytes(content[:length])
        with pytest.raises(CheckpointError, match=r"cut\.safetensors can't be read"):
            checkpoint.resume(cut, SIZES, RECIPE)


def test_a_save_that_fails_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoint.write_atomically(path, b"after")
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


WRITER = """
import sys
from pathlib import Path
from annotated_transformer.checkpoint import write_atomically
path = Path(sys.argv[1])
print("ready", flush=True)
for number in range(10**9):
    write_atomically(path, bytes([number % 251]) * 3_000_000)
"""


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "file"
    for milliseconds in (1, 5, 12, 31):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE
        ) as process:
            process.stdout.readline()
            while not path.exists():
                pass
            threshold = time.monotonic() + milliseconds / 1000
            while time.monotonic() < threshold:
                pass
            process.send_signal(signal.SIGKILL)
        content = path.read_bytes()
        assert len(content) == 3_000_000 and len(set(content)) == 1


def test_nothing_is_unpickled(tmp_path):
    class Attack:
        def __reduce__(self):
            return Path.touch, (tmp_path / "marker",)

    path = tmp_path / "step.safetensors"
    path.write_bytes(pickle.dumps(Attack()))
    with pytest.raises(CheckpointError):
        checkpoint.read_tensors(path)
    assert not (tmp_path / "marker").exists()


def write(path: Path, **values: torch.Tensor) -> Path:
    safetensors.torch.save_file(values, path)
    return path


def test_the_average_by_hand(tmp_path):
    paths = [write(tmp_path / str(v), a=torch.tensor([v, 2 * v])) for v in (1.0, 3.0)]
    assert checkpoint.average(paths)["a"].tolist() == [2.0, 4.0]
    half = [write(tmp_path / f"h{i}", a=torch.full((2,), 4e4).half()) for i in range(2)]
    assert checkpoint.average(half)["a"].tolist() == [4e4, 4e4]
    tenths = [write(tmp_path / f"t{i}", a=torch.tensor([0.1])) for i in range(20)]
    torch.testing.assert_close(
        checkpoint.average(tenths)["a"], torch.tensor([0.1]), rtol=1e-7, atol=0
    )


def test_the_average_of_one_is_itself_and_twice_is_the_same(tmp_path):
    path = tmp_path / "step.safetensors"
    training = start(SIZES, RECIPE)
    checkpoint.save(path, training)
    for _ in range(2):
        averaged = checkpoint.average([path])
        assert averaged.keys() == dict(training.model.named_parameters()).keys()
        for name, parameter in training.model.named_parameters():
            assert torch.equal(averaged[name], parameter)


def test_a_tied_matrix_stays_tied_after_saving_averaging_and_loading(tmp_path):
    path = tmp_path / "step.safetensors"
    checkpoint.save(path, start(SIZES, RECIPE))
    resumed = checkpoint.resume(path, SIZES, RECIPE)
    checkpoint.set_weights(resumed.model, checkpoint.average([path, path]))
    for model in (resumed.model, copy.deepcopy(resumed.model)):
        table, output = model.embedding.table.weight, model.embedding.output.weight
        assert table.data_ptr() == output.data_ptr()
    names = [
        name for name in checkpoint.read_tensors(path)[0] if name.startswith("weights.")
    ]
    assert len(names) == len([*resumed.model.parameters()])


def test_models_that_differ_are_not_averaged_or_loaded(tmp_path):
    one = write(tmp_path / "one", a=torch.zeros(2))
    two = write(tmp_path / "two", b=torch.zeros(2))
    with pytest.raises(CheckpointError, match="two is of another model"):
        checkpoint.average([one, two])
    with pytest.raises(CheckpointError, match="no checkpoint"):
        checkpoint.average([])
    model = start(SIZES, RECIPE).model
    with pytest.raises(CheckpointError, match=r"names differ"):
        checkpoint.set_weights(model, {"a": torch.zeros(2)})
    wide = start(replace(SIZES, d_ff=48), RECIPE).model
    with pytest.raises(CheckpointError, match=r"\(48, 16\) in the file, \(24, 16\)"):
        checkpoint.set_weights(model, checkpoint.weights_of(wide))


LINES = [(f"a{i} b c", f"x{i} y z") for i in range(60)]


def small_run(folder: Path, steps: int, report=lambda entry: None, pairs=LINES):
    held = {"development": Split(["a1 b"], [["x1 y"]])}
    corpus = Corpus("lines", "en", "de", pairs, held, {}, "")
    pieces = tokenizer.train([text for pair in LINES for text in pair], 300)
    config = replace(TINY, vocabulary=300, d_model=16, d_ff=24, heads=2, dropout=0.2)
    recipe = Recipe(
        steps=steps, tokens=200, warmup=5, log_every=2, validate_every=4, keep=2
    )
    return checkpoint.train_in_folder(
        folder, corpus, pieces, config, recipe, report=report
    )


def test_a_folder_that_was_killed_between_checkpoints_ends_as_if_it_had_not(tmp_path):
    unbroken = small_run(tmp_path / "unbroken", 12)

    def kill(entry) -> None:
        if entry["step"] == 10:
            raise MemoryError  # like a kill: nothing is saved

    with pytest.raises(MemoryError):
        small_run(tmp_path / "killed", 12, kill)
    assert checkpoint.checkpoints(tmp_path / "killed")[-1].stem == "step-00000008"
    resumed = small_run(tmp_path / "killed", 12)
    assert same(unbroken, resumed)
    weights = [
        (tmp_path / n / "weights.safetensors").read_bytes()
        for n in ("unbroken", "killed")
    ]
    assert weights[0] == weights[1]
    logs = [
        (tmp_path / n / "log.jsonl").read_text("utf-8") for n in ("unbroken", "killed")
    ]
    steps = [
        [json.loads(line)["step"] for line in log.split("\n") if line] for log in logs
    ]
    assert steps[0] == steps[1]


def test_a_folder_keeps_the_last_checkpoints_and_their_average(tmp_path):
    trained = small_run(tmp_path, 12)
    kept = checkpoint.checkpoints(tmp_path)
    assert [path.stem for path in kept] == ["step-00000008", "step-00000012"]
    weights, about = checkpoint.read_tensors(tmp_path / "weights.safetensors")
    expected = checkpoint.average(kept)
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    assert Config(**config["model"]) == trained.model.config
    assert about["tokenizer"] == config["tokenizer"]


def test_a_log_that_ran_ahead_of_its_checkpoint_is_cut_back(tmp_path):
    small_run(tmp_path, 8)
    with open(tmp_path / "log.jsonl", "a", encoding="utf-8") as file:
        file.write('{"step": 9, "loss": 1.0}\n')
    small_run(tmp_path, 8)
    text = (tmp_path / "log.jsonl").read_text("utf-8")
    assert '"step": 9' not in text and text.count('"step": 8') == 2


def test_a_run_goes_on_only_with_the_corpus_that_it_began_with(tmp_path):
    small_run(tmp_path, 4)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    turned = [(target, source) for source, target in LINES]
    with pytest.raises(
        CheckpointError, match=r"corpus was lines en-de .* and is lines"
    ):
        small_run(tmp_path, 8, pairs=turned)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
