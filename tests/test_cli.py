"""The command as a user meets it: real processes, real files, messages and codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "annotated_transformer"]
NOUNS = ["dog", "cat", "bird", "horse", "child"]
VERBS = ["sees", "likes", "hears", "finds", "knows"]
GERMAN = [
    *("Hund", "Kater", "Vogel", "Gaul", "Bub"),
    *("sieht", "mag", "hört", "findet", "kennt"),
]
WORDS = dict(zip([*NOUNS, *VERBS], GERMAN, strict=True))
PAIRS = [
    (f"the {a} {verb} the {b}", f"der {WORDS[a]} {WORDS[verb]} den {WORDS[b]}")
    for a in NOUNS
    for verb in VERBS
    for b in NOUNS
]
SIZES = "--model tiny --layers 1 --d-model 32 --d-ff 64 --heads 2 --vocabulary 330"


def run(*arguments: object, text: bytes = b"", **more: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of the command."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
    }
    environment |= more.pop("environment", {})  # type: ignore[arg-type]
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=text,
        capture_output=True,
        env=environment,
        timeout=120,
        **more,  # type: ignore[call-overload]
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    lines = [f"{source}\t{target}\n" for source, target in PAIRS]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


@pytest.fixture(scope="module")
def trained(text: Path) -> Path:
    folder = text.parent / "run"
    options = f"{SIZES} --steps 30 --tokens 400 --validate-every 10 --keep 2"
    code, _, errors = run(
        "train", "--out", folder, "--tab-separated", text, *options.split()
    )
    assert code == 0, errors
    return folder


def test_a_run_folder_holds_all_that_translating_needs(trained):
    names = {path.name for path in trained.iterdir()}
    assert names == {
        *("config.json", "tokenizer.model", "weights.safetensors"),
        *("log.jsonl", "checkpoints"),
    }
    kept = sorted(path.name for path in (trained / "checkpoints").iterdir())
    assert kept == ["step-00000020.safetensors", "step-00000030.safetensors"]


def test_the_same_command_again_has_nothing_to_do(trained, text):
    before = (trained / "weights.safetensors").read_bytes()
    options = f"{SIZES} --steps 30 --tokens 400 --validate-every 10 --keep 2"
    code, _, _ = run(
        "train", "--out", trained, "--tab-separated", text, *options.split()
    )
    assert code == 0
    assert (trained / "weights.safetensors").read_bytes() == before


def test_a_run_with_another_width_is_refused_by_the_name_of_the_field(trained, text):
    options = SIZES.replace("--d-ff 64", "--d-ff 128")
    code, _, errors = run(
        "train", "--out", trained, "--tab-separated", text, *options.split()
    )
    assert code == 1
    assert "d_ff was 64 and is 128" in errors
    assert "Traceback" not in errors


def test_an_empty_line_gives_an_empty_line_and_umlauts_survive_a_c_locale(trained):
    lines = "the dog sees the cat\n\nthe bird hears the größte Überraschung\n"
    code, output, errors = run("translate", "--model", trained, text=lines.encode())
    assert code == 0, errors
    assert len(output.split("\n")) == 4
    assert output.split("\n")[1] == ""


def test_the_last_line_needs_no_newline_and_nothing_gives_nothing(trained):
    _, output, _ = run("translate", "--model", trained, text=b"the dog")
    assert output.count("\n") == 1
    assert run("translate", "--model", trained)[1] == ""


def test_only_a_newline_ends_a_line(trained):
    lines = "the dog\u2028sees\x0bthe\x85cat\r\nthe bird\n"
    _, output, _ = run("translate", "--model", trained, text=lines.encode())
    assert output.count("\n") == 2


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"the \xff dog", "line 3 is not UTF-8"),
        (b"the dog " * 10_000, "line 3 has"),
    ],
)
def test_a_bad_line_is_named_and_those_before_it_are_translated(trained, bad, message):
    lines = b"the dog sees the cat\nthe cat\n" + bad + b"\nthe bird\n"
    code, output, errors = run("translate", "--model", trained, text=lines)
    assert code == 1
    assert message in errors
    assert errors.count("\n") == 1
    assert output.count("\n") == 2


def test_a_reader_that_goes_away_is_no_error(trained):
    command = " ".join([*COMMAND, "translate", "--model", str(trained), "--batch", "1"])
    lines = "the dog\n" * 3000
    shell = f"{command} | head -n 1"
    done = subprocess.run(
        ["bash", "-c", shell], input=lines.encode(), capture_output=True, timeout=120
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_scores_of_a_model_are_json_on_request(trained):
    arguments = ["--corpus", "grammar", "--set", "test", "--first", "4", "--json"]
    code, output, errors = run("evaluate", "--model", trained, *arguments)
    assert code == 0, errors
    assert {"bleu", "signature", "paper_bleu", "chrf", "exact", "perplexity"} <= set(
        json.loads(output)
    )


def test_any_systems_output_is_scored_from_files(tmp_path):
    (tmp_path / "output").write_text(
        "the cat is on the mat\nhe ate\n", encoding="utf-8"
    )
    (tmp_path / "reference").write_text(
        "the cat sat on the mat\nhe ate fish today\n", encoding="utf-8"
    )
    files = [
        "--hypotheses",
        tmp_path / "output",
        "--references",
        tmp_path / "reference",
    ]
    code, output, errors = run("evaluate", *files, "--json")
    assert code == 0, errors
    assert json.loads(output)["bleu"] == pytest.approx(30.75, abs=0.005)


def test_files_of_unequal_length_are_refused_with_both_counts(tmp_path):
    (tmp_path / "output").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "reference").write_text("a\n", encoding="utf-8")
    files = [
        "--hypotheses",
        tmp_path / "output",
        "--references",
        tmp_path / "reference",
    ]
    code, _, errors = run("evaluate", *files)
    assert code == 1
    assert "has 2 lines" in errors and "has 1" in errors


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("train", 2, "--out"),
        ("train --out x --heads many", 2, "--heads"),
        ("train --out x --model giant", 1, "choose from base"),
        ("train --out x --heads 7", 1, "choose a divisor"),
        ("train --out x --corpus wmt99", 1, "choose from"),
        ("train --out x --device cuda:99", 1, "device 'cuda:99' can't be used"),
        ("train --out file", 1, "--out file is a file: give a folder"),
        ("translate --device gpu", 1, "device 'gpu' can't be used"),
        ("translate --alpha nan", 1, "alpha=nan must be within"),
        ("evaluate --corpus grammar --first 0", 2, "--first"),
        ("translate --model nowhere", 1, "holds no model"),
        ("translate --beam 0", 2, "beam"),
        ("average nowhere", 1, "no checkpoints"),
        ("evaluate --corpus grammar --set tset", 1, "development, test"),
        ("corpus fetch wmt99", 1, "choose from"),
        ("fly", 2, "fly"),
    ],
)
def test_a_mistake_is_one_message_and_a_code(tmp_path, arguments, code, message):
    (tmp_path / "file").write_bytes(b"")
    found, _, errors = run(*arguments.split(), cwd=tmp_path, text=b"A dog.\n")
    assert found == code
    assert message in errors
    assert "Traceback" not in errors


def test_an_averaged_folder_in_half_precision_translates_alike(trained, tmp_path):
    code, _, errors = run("average", trained, "--last", 2, "--half", "--out", tmp_path)
    assert code == 0, errors
    lines = b"the dog sees the cat\nthe horse likes the child\n"
    whole = run("translate", "--model", trained, text=lines)
    assert run("translate", "--model", tmp_path, text=lines) == whole
    sizes = [(f / "weights.safetensors").stat().st_size for f in (trained, tmp_path)]
    assert sizes[1] < 0.6 * sizes[0]


def test_a_tokenizer_of_another_model_is_refused(trained, tmp_path):
    from annotated_transformer import tokenizer

    run("average", trained, "--out", tmp_path)
    lines = [text for pair in PAIRS for text in pair]
    tokenizer.train(lines, 320).save(tmp_path / "tokenizer.model")
    code, _, errors = run("translate", "--model", tmp_path, text=b"the dog\n")
    assert code == 1
    assert "not the one of this model" in errors


def test_a_cut_file_of_weights_is_named(trained, tmp_path):
    run("average", trained, "--out", tmp_path)
    path = tmp_path / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    code, _, errors = run("translate", "--model", tmp_path, text=b"the dog\n")
    assert code == 1
    assert "weights.safetensors can't be read" in errors


def test_help_of_each_command_has_an_example():
    for command in ("train", "translate", "evaluate", "average", "corpus fetch"):
        code, output, _ = run(*command.split(), "--help")
        assert code == 0
        assert "Example: " in " ".join(output.split())


def test_each_field_of_config_and_recipe_is_an_option_of_train():
    from dataclasses import fields

    from annotated_transformer.config import Config, Recipe

    _, output, _ = run("train", "--help")
    for field in (*fields(Config), *fields(Recipe)):
        assert f"--{field.name.replace('_', '-')}" in output


def test_doctor_names_what_is_here_and_what_would_mend_a_fault(tmp_path):
    code, output, errors = run(
        "doctor", environment={"ANNOTATED_TRANSFORMER_DATA": str(tmp_path)}
    )
    assert code == 0, output + errors
    assert "corpus fetch tatoeba" in output
    assert "device: " in output


def test_info_counts_the_parameters(trained):
    _, output, _ = run("info", trained, "--json")
    about = json.loads(output)
    assert about["d_model"] == 32
    d, ff, rows = 32, 64, about["vocabulary"]
    norms = 2 * d
    encoder = 4 * d * d + (2 * d * ff + ff + d) + 2 * norms
    decoder = 8 * d * d + (2 * d * ff + ff + d) + 3 * norms
    assert about["parameters"] == rows * d + encoder + decoder


def test_pieces_are_learned_from_training_text_alone(tmp_path):
    from annotated_transformer.cli import run_tokenizer
    from annotated_transformer.corpus import Corpus, Split

    held_out = {"development": Split(["zzyzx"] * 50, [["Zzyzx"]] * 50)}
    data = Corpus("lines", "en", "de", PAIRS, held_out, {}, "")
    pieces = run_tokenizer(tmp_path, data, 330)
    assert not any("z" in piece for piece in pieces.pieces(range(4 + 256, 330)))
    assert pieces.decode(pieces.encode("zzyzx")) == "zzyzx"  # spelt in bytes


@pytest.mark.parametrize(
    ("kind", "code"),
    [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)],
)
def test_a_run_that_is_stopped_ends_as_the_unbroken_one(text, tmp_path, kind, code):
    options = f"{SIZES} --dropout 0.2 --steps 90 --tokens 300 --log-every 5"
    options += " --validate-every 10 --keep 3"
    common = ["--tab-separated", text, *options.split()]
    assert run("train", "--out", tmp_path / "unbroken", *common)[0] == 0
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*COMMAND, "train", "--out", tmp_path / "stopped", *common]
    with subprocess.Popen(
        list(map(str, command)), stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        for line in process.stderr:
            if line.startswith("step 25:"):
                process.send_signal(kind)
                break
        process.stderr.read()
    assert process.returncode == code
    assert not (tmp_path / "stopped/weights.safetensors").exists()
    again, _, errors = run("train", "--out", tmp_path / "stopped", *common)
    assert again == 0, errors
    ends = [tmp_path / name / "weights.safetensors" for name in ("unbroken", "stopped")]
    assert ends[0].read_bytes() == ends[1].read_bytes()
