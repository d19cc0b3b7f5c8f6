"""Scaled dot-product attention, and the masks that it takes.   (Section 3.2.1)"""

import math

import torch
from torch import Tensor

from annotated_transformer.tokenizer import PAD


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(Q Kᵀ / √d_k) V: each query takes a weighted mean of the values.   (Eq. 1)

    Args:
        query, key, value: ... T K, ... S K and ... S V.
        mask: broadcasts to ... T S; True where a query may attend. None allows all.
    Returns:
        The output, ... T V, and the weights, ... T S. A row of weights sums to 1, or
        to 0 where its mask allows no key.
    Raises:
        ValueError: the mask is not boolean.
    """
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(
            f"mask is {mask.dtype}, but must be bool, True where a query may attend: "
            f"make it with padding_mask or causal_mask, or compare (mask > 0)"
        )
    scores = query @ key.mT / math.sqrt(query.size(-1))  # ... T S
    if mask is not None:
        blocked = ~torch.atleast_2d(mask)
        # Not -∞: softmax over no key at all is 0 / 0, NaN in the backward pass too.
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)  # ... T S
    if mask is not None:
        weights = weights.masked_fill(blocked, 0.0)
        # A weight of 0 does not silence a NaN, so values that no query reads go too.
        value = value.masked_fill(blocked.all(-2).unsqueeze(-1), 0.0)
    output = weights @ value  # ... T V
    return output, weights


def padding_mask(tokens: Tensor, pad: int = PAD) -> Tensor:
    """True where a key is a word, False where it is padding.

    It takes columns of the weights away, never rows: a query at a padded place still
    has keys, and nothing reads what it finds.

    Args:
        tokens: B S, numbers of pieces.
    Returns:
        B 1 1 S, to broadcast over heads and queries.
    """
    return (tokens != pad)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """True where key j is not after query i, j ≤ i.   (Section 3.2.3)

    A position attends to itself: without the diagonal the first would have no key.

    Returns:
        T T: row i allows i + 1 keys.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
