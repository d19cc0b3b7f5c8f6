"""The `annotated-transformer` command."""

import inspect
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field, asdict, fields, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, get_type_hints

import typer

from annotated_transformer import (
    __version__,
    bleu,
    checkpoint,
    corpus,
    doctor,
    download,
    grammar,
    text_files,
    tokenizer,
    translate,
)
from annotated_transformer.config import MODELS, RECIPES, Config, Recipe
from annotated_transformer.corpus import Corpus
from annotated_transformer.model import parameter_count, usable
from annotated_transformer.training import TrainingError

app = typer.Typer(
    help="Train, use and measure the Transformer of 'Attention Is All You Need'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
corpora = typer.Typer(help="The corpora: which are here, and how to fetch them.")
app.add_typer(corpora, name="corpus", no_args_is_help=True)

ModelOption = Annotated[
    str, typer.Option(help="A folder that `train --out` wrote, or 'shipped'.")
]
BeamOption = Annotated[
    int, typer.Option(min=1, help="Hypotheses kept at each step; 1 is greedy.")
]
AlphaOption = Annotated[float, typer.Option(help="Exponent of the length penalty.")]
DeviceOption = Annotated[str, typer.Option(help="Where to compute: cpu, cuda.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def say(message: str) -> None:
    """A line for the person at the terminal; standard output is for results."""
    print(message, file=sys.stderr, flush=True)


def options(*kinds: type) -> Callable[[Callable], Callable]:
    """Give a command an option for each field of some dataclasses, under its name."""

    def option(kind: type, field: Field) -> inspect.Parameter:
        help_text = f"Field of {kind.__name__}; --model decides its default."
        annotation: Any = get_type_hints(kind)[field.name] | None
        annotation = Annotated[annotation, typer.Option(help=help_text)]
        return inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=annotation,
        )

    def decorate(command: Callable) -> Callable:
        signature = inspect.signature(command)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [option(kind, field) for kind in kinds for field in fields(kind)]
        command.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        command.__annotations__ |= {p.name: p.annotation for p in added}
        return command

    return decorate


def changes(kind: type, given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given and are fields of a dataclass."""
    names = {field.name for field in fields(kind)}
    return {k: v for k, v in given.items() if k in names and v is not None}


def refuse_file(out: Path) -> None:
    """ValueError if the name of a folder to write is a file's."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file: give a folder, new or of a run")


def open_corpus(name: str, source: str, target: str) -> Corpus:
    """A corpus of the cache, or the built-in one."""
    if name == "grammar":
        return grammar.corpus()
    return corpus.load(name, source, target)


@app.command()
@options(Config, Recipe)
def train(
    out: Annotated[Path, typer.Option(help="Folder of the run; the same one resumes.")],
    corpus_name: Annotated[
        str, typer.Option("--corpus", help="tatoeba, multi30k or grammar.")
    ] = "grammar",
    files: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--files", help="Your own corpus: source and target, line by line."
        ),
    ] = None,
    tab_separated: Annotated[
        Path | None, typer.Option(help="Your own corpus: source, tab, target.")
    ] = None,
    source: Annotated[str, typer.Option(help="Language of the source.")] = "en",
    target: Annotated[str, typer.Option(help="Language of the target.")] = "de",
    model: Annotated[str, typer.Option(help=", ".join(MODELS))] = "small",
    device: DeviceOption = "cpu",
    **given: Any,
) -> None:
    """Train a model; the same command again goes on where it was stopped.

    Example: annotated-transformer train --corpus multi30k --model small
    --minutes 30 --out run
    """
    if model not in MODELS:
        raise ValueError(
            f"there is no model {model!r}: choose from {', '.join(MODELS)}"
        )
    refuse_file(out)
    usable(device)  # or the mistake would show only after the corpus is read
    config = replace(MODELS[model], **changes(Config, given))
    recipe = replace(RECIPES[model], **changes(Recipe, given))
    if own := files or tab_separated:
        data = corpus.load_files(own, source=source, target=target)
    else:
        data = open_corpus(corpus_name, source, target)
    say(data.summary())
    pieces = run_tokenizer(out, data, config.vocabulary)
    say(
        f"{model}: {config}\n{recipe.tokens:,} tokens a step, "
        f"{recipe.accumulate} x {recipe.tokens // recipe.accumulate:,}"
    )
    try:
        trained = checkpoint.train_in_folder(
            out, data, pieces, config, recipe, device, report=log_line
        )
    except (KeyboardInterrupt, SystemExit) as stop:
        say(f"stopped, and saved in {out}: the same command goes on from there")
        code = stop.code if isinstance(stop, SystemExit) else 128 + signal.SIGINT
        raise SystemExit(code) from None
    say(f"step {trained.step:,}: done; averaged weights are in {out}")


def run_tokenizer(out: Path, data: Corpus, vocabulary: int) -> tokenizer.Tokenizer:
    """The tokenizer of a run's folder; a new run learns one from its training text."""
    path = out / "tokenizer.model"
    if path.exists():
        return tokenizer.Tokenizer.load(path)
    return tokenizer.train((text for pair in data.train for text in pair), vocabulary)


def log_line(entry: dict[str, Any]) -> None:
    """An entry of the log for the terminal."""
    if "perplexity" in entry:
        say(f"step {entry['step']:,}: development perplexity {entry['perplexity']:.3f}")
    else:
        speed = entry["tokens"] / max(entry["seconds"], 0.1)
        say(
            f"step {entry['step']:,}: loss {entry['loss']:.4f}, "
            f"rate {entry['rate']:.2e}, {speed:,.0f} tokens/s"
        )


def text_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Lines of UTF-8, without their ends; only a newline ends one.

    Raises:
        ValueError: a line is not UTF-8; its number is named.
    """
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number:,} is not UTF-8 (byte {error.start + 1}): "
                f"convert it, for example with iconv"
            ) from None


def take(lines: Iterator[str], count: int) -> tuple[list[str], Exception | None]:
    """The next lines, and the error that ended them early, if there was one."""
    taken: list[str] = []
    try:
        taken.extend(islice(lines, count))
    except ValueError as error:
        return taken, error
    return taken, None


@app.command("translate")
def translate_lines(
    model: ModelOption = "shipped",
    beam: BeamOption = 4,
    alpha: AlphaOption = 0.6,
    batch: Annotated[int, typer.Option(min=1, help="Lines read at a time.")] = 64,
    device: DeviceOption = "cpu",
) -> None:
    """Translate standard input to standard output, line for line.

    Example: echo "I have a dog." | annotated-transformer translate
    """
    translator = translate.load(model, device)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    lines = checked(text_lines(sys.stdin.buffer, "standard input"), translator)
    batch = 1 if sys.stdin.isatty() else batch
    unfinished = 0
    while True:
        chunk, problem = take(lines, batch)
        for translation in translator.translate(chunk, beam, alpha):
            print(translation.text)
            unfinished += not translation.finished
        sys.stdout.flush()
        if problem is not None:
            raise problem
        if len(chunk) < batch:
            break
    if unfinished:
        say(f"{unfinished:,} translations reached the limit of length without an end")


def checked(lines: Iterable[str], translator: translate.Translator) -> Iterator[str]:
    """Lines that can be translated; ValueError names the first that can't."""
    for number, line in enumerate(lines, 1):
        translator.encode(line, f"line {number:,}")
        yield line


@app.command()
def evaluate(
    model: ModelOption = "shipped",
    corpus_name: Annotated[
        str, typer.Option("--corpus", help="tatoeba, multi30k or grammar.")
    ] = "tatoeba",
    set_name: Annotated[
        str | None, typer.Option("--set", help="Default: the development set.")
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Only so many sentences.")
    ] = None,
    hypotheses: Annotated[
        Path | None, typer.Option(help="Score this file, of any system, instead.")
    ] = None,
    references: Annotated[
        list[Path] | None, typer.Option(help="Its references; may be repeated.")
    ] = None,
    language: Annotated[str, typer.Option(help="Of --hypotheses.")] = "de",
    beam: BeamOption = 4,
    alpha: AlphaOption = 0.6,
    device: DeviceOption = "cpu",
    json_output: JsonOption = False,
) -> None:
    """Score a model on a corpus, or any system's translations in a file.

    Example: annotated-transformer evaluate --model run --corpus multi30k
    --set test_2016_flickr
    """
    if hypotheses or references:
        scores = score_files(hypotheses, references, language)
    else:
        translator = translate.load(model, device)
        about = translator.about
        data = open_corpus(corpus_name, about["source"], about["target"])
        chosen = set_name or next(iter(data.sets))
        if chosen not in data.sets:
            raise ValueError(
                f"{corpus_name} has no set {chosen!r}, but {', '.join(data.sets)}"
            )
        split = data.sets[chosen]
        split = corpus.Split(split.source[:first], split.references[:first])
        scores = {"corpus": corpus_name, "set": chosen}
        scores |= translate.evaluate(translator, split, beam, alpha)
    show_table(scores, json_output)


def score_files(
    hypotheses: Path | None, references: list[Path] | None, language: str
) -> dict[str, Any]:
    """Scores of a file of translations against files of references."""
    if hypotheses is None or not references:
        raise typer.BadParameter("--hypotheses and --references go together")
    read = [text_files.read_lines(path) for path in (hypotheses, *references)]
    for path, lines in zip(references, read[1:], strict=True):
        if len(lines) != len(read[0]):
            raise ValueError(
                f"{hypotheses} has {len(read[0]):,} lines, {path} has {len(lines):,}: "
                f"line n of one must be the translation that line n of the other is"
            )
    accepted = list(zip(*read[1:], strict=True))
    return asdict(bleu.score(read[0], accepted, language))


def show_table(values: dict[str, Any], json_output: bool) -> None:
    """Names and values on standard output, for people or for programs."""
    if json_output:
        print(json.dumps(values, ensure_ascii=False))
        return
    width = max(map(len, values))
    for name, value in values.items():
        text = f"{value:.2f}" if isinstance(value, float) else str(value)
        print(f"{name:{width}}  {text}")


@app.command()
def average(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    last: Annotated[int, typer.Option(min=1, help="Checkpoints to average.")] = 5,
    half: Annotated[bool, typer.Option("--half", help="Write float16.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder; default: the run's.")
    ] = None,
) -> None:
    """Average the last checkpoints of a run into weights.safetensors.

    With --out it becomes a folder of its own, which holds all that translating needs.

    Example: annotated-transformer average run --last 5 --half --out model
    """
    paths = checkpoint.checkpoints(run)[-last:]
    if not paths:
        raise ValueError(f"{run} has no checkpoints: give the folder of a run")
    out = out or run
    refuse_file(out)
    out.mkdir(parents=True, exist_ok=True)
    about = json.loads((run / "config.json").read_text(encoding="utf-8"))
    for name in ("config.json", "tokenizer.model"):
        checkpoint.write_atomically(out / name, (run / name).read_bytes())
    weights = checkpoint.average(paths)
    if half:
        weights = {name: tensor.half() for name, tensor in weights.items()}
    about = {"tokenizer": about["tokenizer"]}
    checkpoint.write_tensors(out / "weights.safetensors", weights, about)
    say(f"{out} is the average of {', '.join(path.stem for path in paths)}")


@corpora.command("list")
def list_corpora() -> None:
    """The corpora, and whether their files are here."""
    print("grammar   en-de         built in")
    for entry in download.listing():
        state = f"{len(entry.missing)} files to fetch" if entry.missing else "here"
        print(f"{entry.name:9} {', '.join(entry.languages):13} {state}")


@corpora.command("fetch")
def fetch_corpus(name: Annotated[str, typer.Argument(help="As `list` says.")]) -> None:
    """Fetch a corpus into the cache, each file checked by its SHA-256.

    Example: annotated-transformer corpus fetch multi30k
    """
    say(f"{name} is in {download.fetch(name)}")


@app.command()
def info(
    model: Annotated[str, typer.Argument(help="A folder, or 'shipped'.")] = "shipped",
    json_output: JsonOption = False,
) -> None:
    """What a model is, and how it was trained."""
    translator = translate.load(model)
    about = {k: v for k, v in translator.about.items() if not isinstance(v, dict)}
    about["parameters"] = parameter_count(translator.model)
    about |= asdict(translator.model.config)
    about |= {f"recipe.{k}": v for k, v in translator.about.get("recipe", {}).items()}
    show_table(about, json_output)


@app.command("doctor")
def examine() -> None:
    """What is installed and at hand, what would fail, and how to mend it."""
    findings = doctor.examine()
    for finding in findings:
        print(f"{'ok  ' if finding.good else 'BAD '} {finding.text}")
        if not finding.good:
            print(f"     to mend it: {finding.remedy}")
    if not all(finding.good for finding in findings):
        raise SystemExit(1)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        print(f"annotated-transformer {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command: a mistake of the user's is one line on standard error."""
    # Ours derive from ValueError and RuntimeError; OSError covers disks and paths.
    known = (ValueError, OSError, checkpoint.CheckpointError, TrainingError)
    try:
        app()
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        raise SystemExit(0) from None
    except known as error:
        say(f"annotated-transformer: {error}")
        raise SystemExit(1) from None
