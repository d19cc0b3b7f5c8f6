"""The rate that warms up and decays, and the optimizer.   (Section 5.3)"""

import torch
from torch import nn


def warmup_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5).   (Eq. 3)

    It grows evenly for `warmup` steps, and falls with the root of the step from there.

    Args:
        step: number of the update, 1 for the first.
    Raises:
        ValueError: step is below 1: step 0 would divide by zero.
    """
    if step < 1:
        raise ValueError(f"step={step}: the first update is step 1")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def adam(model: nn.Module) -> torch.optim.Adam:
    """Adam with β1 = 0.9, β2 = 0.98, ε = 1e-9; the rate is set at each step."""
    return torch.optim.Adam(
        model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
