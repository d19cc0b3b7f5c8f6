"""Text in, text and attention maps out."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import torch

from annotated_transformer import batching, bleu, checkpoint, search
from annotated_transformer.config import Config
from annotated_transformer.corpus import Split
from annotated_transformer.model import (
    AttentionMaps,
    Transformer,
    attention_maps,
    usable,
)
from annotated_transformer.tokenizer import BOS, Tokenizer
from annotated_transformer.training import validate

LONGEST = 1024  # pieces of a source sentence; the shipped model saw none above 100
ROOM = 2048  # tokens of a padded batch of sources, times the beam


@dataclass(frozen=True)
class Translation:
    """What a sentence became, and what the model looked at meanwhile.

    Args:
        text: the translation.
        tokens: its pieces.
        source_tokens: the pieces of the source, its end mark among them.
        score: log-probability over length penalty, in nats.
        finished: False if no end mark came within the limit of input + 50.
    """

    text: str
    tokens: list[str]
    source_tokens: list[str]
    score: float
    finished: bool
    model: Transformer = field(repr=False, compare=False)
    source_ids: list[int] = field(repr=False, compare=False)
    ids: list[int] = field(repr=False, compare=False)

    @property
    def inputs(self) -> list[str]:
        """What the decoder has read at each place: rows of its self-attention."""
        return ["<s>", *self.tokens]

    @property
    def outputs(self) -> list[str]:
        """What it says at each place: names for rows of the attention to the source."""
        return [*self.tokens, "</s>"]

    @cached_property
    def attention(self) -> AttentionMaps:
        """Weights of every layer and head, each `layers H T S`, on this translation.

        They come from one more pass over these very tokens, so that they belong to
        this translation and not to another hypothesis of the beam.
        """
        device = self.model.device
        source = torch.tensor([self.source_ids], device=device)
        target = torch.tensor([[BOS, *self.ids]], device=device)
        maps = attention_maps(self.model, source, target)
        return AttentionMaps(maps.encoder[:, 0], maps.decoder[:, 0], maps.cross[:, 0])


@dataclass(frozen=True)
class Translator:
    """A trained model with its tokenizer.

    Args:
        about: the folder's config.json: languages, corpus, recipe.
    """

    model: Transformer
    tokenizer: Tokenizer
    about: dict

    def translate(
        self,
        sentences: Sequence[str],
        beam: int = 4,
        alpha: float = 0.6,
        extra: int = 50,
    ) -> list[Translation]:
        """Translate sentences; an empty one stays empty.

        Sentences of like length go through the model together, and come back in order.

        Args:
            beam: hypotheses kept at each step; 1 is greedy search.
            alpha: exponent of the length penalty.
            extra: pieces by which an output may exceed its input.
        Raises:
            TypeError: `sentences` is one string, not a list of them.
            ValueError: a sentence is longer than 1,024 pieces.
        """
        if isinstance(sentences, str):
            raise TypeError("sentences is one string: give a list, as in [sentence]")
        sources = [
            self.encode(text, f"sentence {number:,}")
            for number, text in enumerate(sentences, 1)
        ]
        found: dict[int, search.Hypothesis] = {}
        words = [number for number, source in enumerate(sources) if len(source) > 1]
        examples = [(sources[number], [BOS]) for number in words]
        self.model.eval()
        for group in batching.group_by_length(examples, max(ROOM // beam, LONGEST)):
            numbers = [words[place] for place in group]
            batch = batching.pad([sources[number] for number in numbers])
            batch = batch.to(self.model.device)
            results = search.beam(self.model, batch, beam, alpha, extra)
            found |= dict(zip(numbers, [best for best, *_ in results], strict=True))
        nothing = search.Hypothesis([], 0.0, 0.0, True)
        return [
            self.translation(source, found.get(number, nothing))
            for number, source in enumerate(sources)
        ]

    def encode(self, text: str, name: str) -> list[int]:
        """Numbers of a source sentence; ValueError says that `name` is too long."""
        source = batching.encode_source(text, self.tokenizer)
        if len(source) > LONGEST:
            raise ValueError(
                f"{name} has {len(source):,} pieces, more than {LONGEST:,}: "
                f"split it into sentences"
            )
        return source

    def translation(
        self, source: list[int], hypothesis: search.Hypothesis
    ) -> Translation:
        """A hypothesis as text, with what is needed to draw its attention."""
        return Translation(
            text=self.tokenizer.decode(hypothesis.tokens),
            tokens=self.tokenizer.pieces(hypothesis.tokens),
            source_tokens=self.tokenizer.pieces(source),
            score=hypothesis.score,
            finished=hypothesis.finished,
            model=self.model,
            source_ids=source,
            ids=hypothesis.tokens,
        )


def load(folder: Path | str = "shipped", device: str = "cpu") -> Translator:
    """The shipped model, or that of a folder which training wrote.

    A run that has not ended has no averaged weights yet: its last checkpoint serves.

    Raises:
        CheckpointError: the folder has no model, or its files do not belong together.
        ValueError: there is no such device here.
    """
    place = usable(device)
    if folder == "shipped":
        folder = Path(str(files("annotated_transformer") / "weights"))
    folder = Path(folder)
    try:
        about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.load(folder / "tokenizer.model")
        config = Config(**about["model"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise checkpoint.CheckpointError(
            f"{folder} holds no model ({error}): give a folder that "
            f"`annotated-transformer train --out` wrote, or 'shipped'"
        ) from None
    checksums = {tokenizer.checksum, about["tokenizer"]}
    if len(checksums) > 1 or tokenizer.vocabulary > config.vocabulary:
        raise checkpoint.CheckpointError(
            f"{folder}/tokenizer.model is not the one of this model: its pieces would "
            f"have other numbers; put the right one back"
        )
    path = folder / "weights.safetensors"
    if not path.exists() and (unfinished := checkpoint.checkpoints(folder)):
        path = unfinished[-1]
    tensors, _ = checkpoint.read_tensors(path)
    weights = checkpoint.part(tensors, "weights.") or tensors
    model = Transformer(config)
    checkpoint.set_weights(model, weights)
    return Translator(model.eval().to(place), tokenizer, about)


def evaluate(
    translator: Translator, split: Split, beam: int = 4, alpha: float = 0.6
) -> dict[str, object]:
    """Scores of a model on held-out sentences, and its perplexity per piece.

    Returns:
        bleu, signature, paper_bleu, chrf, exact and the rest of `bleu.Scores`, and
        `perplexity` on every reference, unsmoothed.
    """
    found = translator.translate(split.source, beam, alpha)
    texts = [translation.text for translation in found]
    scores = bleu.score(texts, split.references, translator.about["target"])
    examples, _ = batching.encode_pairs(split.pairs(), translator.tokenizer)
    device = translator.model.device
    batches = [b.to(device) for b in batching.Batches(examples, ROOM).epoch(0)]
    unfinished = sum(not translation.finished for translation in found)
    return {
        **asdict(scores),
        "perplexity": validate(translator.model, batches),
        "unfinished": unfinished,
    }
