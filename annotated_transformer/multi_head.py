"""Multi-head attention, and the cache of its keys and values.   (Section 3.2.2)"""

from typing import Any

import torch
from torch import Tensor, nn

from annotated_transformer.attention import scaled_dot_product_attention


def split_heads(states: Tensor, heads: int) -> Tensor:
    """B T (H K) to B H T K: the columns of each head, the words left in their rows.

    The width is cut first and the axes are swapped after: a single reshape to B H T K
    would cut across words.
    """
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(states: Tensor) -> Tensor:
    """B H T V to B T (H V): head_1 ... head_h side by side, for each word."""
    return states.transpose(1, 2).flatten(2)


class Cache:
    """Keys and values of one attention, kept from one step of decoding to the next.

    Args:
        fixed: True for attention to the encoder's output, whose keys and values are
            computed once and never grow.
    """

    def __init__(self, fixed: bool = False) -> None:
        self.fixed = fixed
        self.key: Tensor | None = None  # of shape B H S K, once there is one
        self.value: Any = None  # of shape B H S V, once there is a key

    @property
    def length(self) -> int:
        """Positions held."""
        return 0 if self.key is None else self.key.size(2)

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Take the keys and values of new positions; give all there are."""
        if self.key is not None:
            key = torch.cat([self.key, key], dim=2)
            value = torch.cat([self.value, value], dim=2)
        self.key, self.value = key, value
        return key, value

    def keep(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order; a row may be taken twice."""
        if self.key is not None:
            self.key, self.value = self.key[rows], self.value[rows]


class MultiHeadAttention(nn.Module):
    """Concat(head_1, ..., head_h) W_O, head_i = Attention(Q W_Q, K W_K, V W_V).

    Three separate matrices and no biases, as the formula says: one packed matrix would
    start with another spread under Xavier's rule.   (Section 3.2.2)

    Raises:
        ValueError: d_model does not divide into heads, and d_k or d_v is not given.
    """

    def __init__(
        self, d_model: int, heads: int, d_k: int | None = None, d_v: int | None = None
    ) -> None:
        super().__init__()
        if d_model % heads and None in (d_k, d_v):
            raise ValueError(
                f"d_model={d_model} does not divide into heads={heads}: "
                f"choose a divisor, or give both d_k and d_v"
            )
        d_k = d_model // heads if d_k is None else d_k
        d_v = d_model // heads if d_v is None else d_v
        self.heads = heads
        self.query = nn.Linear(d_model, heads * d_k, bias=False)
        self.key = nn.Linear(d_model, heads * d_k, bias=False)
        self.value = nn.Linear(d_model, heads * d_v, bias=False)
        self.output = nn.Linear(heads * d_v, d_model, bias=False)
        for projection in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(projection.weight)

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Let `states` ask, and `memory` answer; both are one in self-attention.

        Args:
            states: B T D, what the queries are made from.
            memory: B S D, what the keys and values are made from.
            mask: broadcasts to B H T S; True where a query may attend.
            cache: keys and values of earlier calls, to which these are added.
        Returns:
            The output, B T D, and the weights of all heads, B H T S.
        """
        query = split_heads(self.query(states), self.heads)  # B H T K
        if cache is not None and cache.fixed and cache.key is not None:
            key, value = cache.key, cache.value
        else:
            key = split_heads(self.key(memory), self.heads)  # B H S K
            value = split_heads(self.value(memory), self.heads)  # B H S V
            if cache is not None:
                key, value = cache.append(key, value)
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.output(join_heads(output)), weights
