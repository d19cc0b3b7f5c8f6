"""Where a word stands: sinusoidal and learned positions.   (Section 3.5)"""

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(
    length: int,
    d_model: int,
    start: int = 0,
    device: torch.device | str | None = None,
) -> Tensor:
    """PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(p / 10000^(2i/d)).

    Columns 2i and 2i+1 share a frequency; wavelengths grow from 2π to 10000·2π. Sine
    and cosine alternate as the paper writes them; the authors' later code puts all
    sines first, which only permutes the columns.   (Section 3.5)

    Args:
        length: positions, start ... start + length - 1; there is no longest one.
    Returns:
        length D, float32, computed in float64: an angle of 6,000 needs the digits.
    Raises:
        ValueError: d_model is odd.
    """
    if d_model % 2:
        raise ValueError(
            f"d_model={d_model} is odd: a sine needs its cosine, make it even"
        )
    position = torch.arange(start, start + length, dtype=torch.float64, device=device)
    column = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)
    frequency = torch.exp(-math.log(10_000) * column / d_model)
    angle = position[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1).float()


class SinusoidalPositions(nn.Module):
    """The table of the function above, made longer whenever a sentence needs it."""

    table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        # Not saved: it is a function, and no file should hold its values.
        self.register_buffer("table", sinusoidal_positions(128, d_model), False)

    def forward(self, length: int, start: int = 0) -> Tensor:
        """Positions start ... start + length - 1, T D."""
        if start + length > len(self.table):
            longer, d_model = 2 * (start + length), self.table.size(1)
            self.table = sinusoidal_positions(longer, d_model).to(self.table)
        return self.table[start : start + length]


class LearnedPositions(nn.Module):
    """A trained vector for each position, up to a last one.   (Table 3, row E)"""

    def __init__(self, d_model: int, max_length: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(self, length: int, start: int = 0) -> Tensor:
        """Positions start ... start + length - 1, T D.

        Raises:
            ValueError: the last one was never trained.
        """
        if start + length > len(self.table):
            raise ValueError(
                f"position {start + length - 1} is beyond max_length={len(self.table)} "
                f"learned ones: shorten the sentence, or use sinusoidal positions"
            )
        return self.table[start : start + length]
