"""The encoder's and the decoder's layer, and what both are made of.   (Section 3.1)"""

from collections.abc import Callable

from torch import Tensor, nn

from annotated_transformer.config import Config
from annotated_transformer.multi_head import Cache, MultiHeadAttention


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, at each position alone.   (Eq. 2)"""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, states: Tensor) -> Tensor:
        hidden = self.inner(states).relu()  # B T F
        return self.outer(hidden)


class Residual(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))): the norm comes after the sum, as printed.

    `pre_norm` gives x + Dropout(Sublayer(LayerNorm(x))), which the authors' later code
    uses; a stack of those needs one more norm at its top. The norm divides by the
    biased deviation, with ε = 1e-5 inside the root.   (Sections 3.1 and 5.4)
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.pre_norm = config.pre_norm

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            return states + self.dropout(sublayer(self.norm(states)))
        return self.norm(states + self.dropout(sublayer(states)))


def attention_of(config: Config) -> MultiHeadAttention:
    """One multi-head attention of the sizes in `config`."""
    return MultiHeadAttention(config.d_model, config.heads, config.d_k, config.d_v)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network.   (Figure 1, left)"""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention = attention_of(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.after_attention = Residual(config)
        self.after_feed_forward = Residual(config)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """B S D to B S D; mask broadcasts to B H S S, True where a word may look."""
        states = self.after_attention(states, lambda x: self.attention(x, x, mask)[0])
        return self.after_feed_forward(states, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, feed-forward.   (Figure 1, right)"""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attention = attention_of(config)
        self.cross_attention = attention_of(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.after_self_attention = Residual(config)
        self.after_cross_attention = Residual(config)
        self.after_feed_forward = Residual(config)

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        memory_mask: Tensor | None,
        caches: tuple[Cache, Cache] | None = None,
    ) -> Tensor:
        """B T D to B T D.

        Args:
            memory: B S D, the encoder's output.
            mask: broadcasts to B H T T, True where a target word may look.
            memory_mask: broadcasts to B H T S, True where the source has a word.
            caches: of the self-attention and of the attention to the source.
        """
        own, cross = caches if caches is not None else (None, None)
        states = self.after_self_attention(
            states, lambda x: self.self_attention(x, x, mask, own)[0]
        )
        states = self.after_cross_attention(
            states, lambda x: self.cross_attention(x, memory, memory_mask, cross)[0]
        )
        return self.after_feed_forward(states, self.feed_forward)
