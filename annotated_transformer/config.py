"""The settings of a model and of its training, each checked once.   (Table 3)"""

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Config:
    """The base model; every other one is a difference from another.   (Table 3)

    Raises:
        ValueError: a size is not positive, d_model is odd or does not divide into
            heads, or dropout is not in [0, 1).
    """

    vocabulary: int = 37_000  # pieces, shared by both languages
    layers: int = 6  # N, in the encoder and again in the decoder
    d_model: int = 512
    d_ff: int = 2048
    heads: int = 8
    d_k: int | None = None  # None: d_model / heads, worked out where it is used;
    d_v: int | None = None  # a stored value would survive `replace(BASE, heads=1)`
    dropout: float = 0.1
    # What the paper compares with, or later work changed.
    pre_norm: bool = False  # normalise before each sub-layer, and once at the top
    learned_positions: bool = False  # Table 3, row E
    max_length: int = 1024  # rows of the table of learned positions, no other use
    tied: bool = True  # one matrix for both embeddings and the output   (Section 3.4)

    def __post_init__(self) -> None:
        positive = ("vocabulary", "layers", "d_model", "d_ff", "heads", "max_length")
        for name in positive:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.d_model % 2:
            raise ValueError(
                f"d_model={self.d_model} is odd: positions pair a sine with a cosine, "
                f"so choose an even width"
            )
        if self.d_model % self.heads and None in (self.d_k, self.d_v):
            raise ValueError(
                f"d_model={self.d_model} does not divide into heads={self.heads}: "
                f"choose a divisor, or give both d_k and d_v"
            )
        for name in ("d_k", "d_v"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout} must be at least 0 and below 1")


BASE = Config()
BIG = replace(BASE, d_model=1024, d_ff=4096, heads=16, dropout=0.3)
# What two cores can carry: real sentences in hours, the built-in grammar in a minute.
SMALL = replace(BASE, vocabulary=8000, layers=3, d_model=256, d_ff=1024, heads=4)
TINY = replace(
    BASE, vocabulary=1000, layers=2, d_model=64, d_ff=256, heads=4, dropout=0.0
)
MODELS = {"base": BASE, "big": BIG, "small": SMALL, "tiny": TINY}

TABLE_3 = {
    "base": BASE,
    "A1": replace(BASE, heads=1),
    "A4": replace(BASE, heads=4),
    "A16": replace(BASE, heads=16),
    "A32": replace(BASE, heads=32),
    "B16": replace(BASE, d_k=16),
    "B32": replace(BASE, d_k=32),
    "C2": replace(BASE, layers=2),
    "C4": replace(BASE, layers=4),
    "C8": replace(BASE, layers=8),
    "C256": replace(BASE, d_model=256, d_k=32, d_v=32),
    "C1024": replace(BASE, d_model=1024, d_k=128, d_v=128),
    "C-ff1024": replace(BASE, d_ff=1024),
    "C-ff4096": replace(BASE, d_ff=4096),
    "D0.0": replace(BASE, dropout=0.0),
    "D0.2": replace(BASE, dropout=0.2),
    "E": replace(BASE, learned_positions=True),
    "big": BIG,
}  # The two rows of label smoothing differ in the recipe, not in the model.


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the paper trains its base model on 4.5 million pairs.   (Section 5)

    Raises:
        ValueError: a number is out of its range.
    """

    steps: int = 100_000  # updates of the weights
    minutes: float | None = None  # stop earlier, after so much time in training
    tokens: int = 25_000  # about so many of the source and of the target, a step
    accumulate: int = 1  # micro-batches that share a step's tokens
    warmup: int = 4000  # steps
    rate: float = 1.0  # factor on the paper's rate
    smoothing: float = 0.1  # ε_ls
    seed: int = 0
    bf16: bool = False  # mixed precision: products in bfloat16, the rest in float32
    log_every: int = 100  # steps
    validate_every: int = 1000  # steps; each writes a checkpoint
    keep: int = 5  # checkpoints kept, and averaged at the end
    patience: int | None = None  # validations without a gain before training stops

    def __post_init__(self) -> None:
        for name in ("steps", "tokens", "accumulate", "warmup", "log_every", "keep"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if self.validate_every < 1:
            raise ValueError(f"validate_every={self.validate_every} must be at least 1")
        if self.minutes is not None and not self.minutes > 0:
            raise ValueError(f"minutes={self.minutes} must be above 0")
        if self.accumulate > self.tokens:
            raise ValueError(
                f"tokens={self.tokens} can't be shared by accumulate={self.accumulate} "
                f"micro-batches: raise tokens, or lower accumulate"
            )
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed={self.seed} must be in [0, 2**63)")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience={self.patience} must be at least 1")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing={self.smoothing} must be in [0, 1)")
        if not 0 < self.rate < math.inf:
            raise ValueError(f"rate={self.rate} must be above 0, and finite")


# The paper's batch takes eight GPUs. Two cores take a small one, and so more steps for
# the same words; the rate warms up sooner, for the run is short.
RECIPES = {
    "base": Recipe(),
    "big": Recipe(steps=300_000, keep=20),
    "small": Recipe(
        steps=50_000, tokens=2000, warmup=800, rate=0.7, validate_every=150
    ),
    "tiny": Recipe(steps=1600, tokens=600, warmup=300, rate=0.6, validate_every=80),
}
