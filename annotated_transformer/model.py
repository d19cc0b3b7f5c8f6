"""The Transformer: an encoder, a decoder, one matrix for words.   (Section 3)"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from annotated_transformer.attention import causal_mask, padding_mask
from annotated_transformer.config import Config
from annotated_transformer.embedding import Embedding
from annotated_transformer.layers import DecoderLayer, EncoderLayer
from annotated_transformer.multi_head import Cache, MultiHeadAttention
from annotated_transformer.positions import LearnedPositions, SinusoidalPositions


class Transformer(nn.Module):
    """Source and target tokens to logits of the next target token.   (Figure 1)

    With `pre_norm` each stack ends in a norm of its own; as printed it has none.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.vocabulary, config.d_model, config.tied)
        self.positions = (
            LearnedPositions(config.d_model, config.max_length)
            if config.learned_positions
            else SinusoidalPositions(config.d_model)
        )
        self.dropout = nn.Dropout(config.dropout)
        # Made one by one: copies of one layer would all start with the same weights.
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))
        self.encoder_norm, self.decoder_norm = (
            nn.LayerNorm(config.d_model) if config.pre_norm else nn.Identity()
            for _ in range(2)
        )

    @property
    def device(self) -> torch.device:
        """Where its weights are, and its input has to be."""
        return self.embedding.table.weight.device

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Word plus position, B T D; the first token stands at position `start`."""
        words = self.embedding(tokens)  # B T D
        return self.dropout(words + self.positions(tokens.size(1), start))

    def encode(self, source: Tensor) -> Tensor:
        """Memory, B S D, of source tokens, B S, padded on the right."""
        mask = padding_mask(source)  # B 1 1 S
        states = self.embed(source)
        for layer in self.encoder:
            states = layer(states, mask)
        return self.encoder_norm(states)

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
        caches: list[tuple[Cache, Cache]] | None = None,
    ) -> Tensor:
        """States, B T D, from which the logits of the next tokens are read.

        Args:
            target: B T, begins with BOS; or, with caches, what is new since the call
                before: exactly one token a sentence.
            memory: B S D, from `encode`.
            memory_mask: B 1 1 S, True where the source has a word.
        Raises:
            ValueError: there are caches, and several new tokens a sentence.
        """
        if caches is not None and target.size(1) != 1:
            raise ValueError(
                f"{target.size(1)} new tokens with caches, which take one at a time: "
                f"the first would see the last"
            )
        start = 0 if caches is None else caches[0][0].length
        # A single new token may look at all before it, so it needs no mask.
        mask = None if caches else causal_mask(target.size(1), target.device)
        states = self.embed(target, start)
        for number, layer in enumerate(self.decoder):
            of_layer = None if caches is None else caches[number]
            states = layer(states, memory, mask, memory_mask, of_layer)
        return self.decoder_norm(states)

    def logits(self, states: Tensor) -> Tensor:
        """Scores of every piece, ... N, for states, ... D."""
        return self.embedding.logits(states)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits, B T N: at place t those of the token after target[:, t]."""
        memory = self.encode(source)
        return self.logits(self.decode(target, memory, padding_mask(source)))

    def begin(self, source: Tensor) -> "Decoding":
        """Encode the source once, and decode from there a token at a time."""
        return Decoding(self, source)


class Decoding:
    """A batch of translations in progress: what has been said stays in the caches."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory = model.encode(source)
        self.memory_mask = padding_mask(source)
        self.caches = [(Cache(), Cache(fixed=True)) for _ in model.decoder]

    def step(self, tokens: Tensor) -> Tensor:
        """Say one token in each sentence, B; get the logits of the next, B N."""
        states = self.model.decode(
            tokens[:, None], self.memory, self.memory_mask, self.caches
        )
        return self.model.logits(states[:, -1])

    def keep(self, rows: Tensor) -> None:
        """Keep these sentences, in this order; a beam that splits is taken twice."""
        self.memory, self.memory_mask = self.memory[rows], self.memory_mask[rows]
        for own, cross in self.caches:
            own.keep(rows)
            cross.keep(rows)


@dataclass(frozen=True)
class AttentionMaps:
    """Weights of every layer and head: which words each word took how much from.

    Args:
        encoder: layers B H S S; a row is a source word that looks at source words.
        decoder: layers B H T T; a row is a target token that looks back.
        cross: layers B H T S; a row is a target token that looks at the source.
    """

    encoder: Tensor
    decoder: Tensor
    cross: Tensor


@torch.no_grad()
def attention_maps(model: Transformer, source: Tensor, target: Tensor) -> AttentionMaps:
    """The weights of a forward pass over source, B S, and target, B T, dropout off."""
    seen: dict[str, list[Tensor]] = {}

    def note(name: str, _module: nn.Module, _arguments: tuple, result: tuple) -> None:
        seen.setdefault(name, []).append(result[1])

    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            kind = "encoder" if name.startswith("encoder") else name.split(".")[-1]
            hooks.append(module.register_forward_hook(partial(note, kind)))
    training = model.training
    try:
        model.eval()(source, target)
    finally:
        model.train(training)
        for hook in hooks:
            hook.remove()
    return AttentionMaps(
        torch.stack(seen["encoder"]),
        torch.stack(seen["self_attention"]),
        torch.stack(seen["cross_attention"]),
    )


def usable(device: str) -> torch.device:
    """A device by its name, such as "cpu" or "cuda:1", tried out.

    Raises:
        ValueError: there is no such device here.
    """
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:  # torch raises either
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device {device!r} can't be used ({reason}): choose cpu, or see what "
            f"`annotated-transformer doctor` finds"
        ) from None


def parameter_count(model: nn.Module) -> int:
    """Numbers that are trained; a matrix with two uses counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
