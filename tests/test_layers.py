"""Residual connections, norms, the feed-forward network, the two layers."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from annotated_transformer.attention import causal_mask
from annotated_transformer.config import BASE, TINY
from annotated_transformer.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Residual,
)

SIZES = replace(TINY, d_model=16, d_ff=24, heads=4, dropout=0.0)


def states(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_the_norm_divides_by_the_biased_deviation():
    norm = Residual(replace(SIZES, d_model=4)).norm
    found = norm(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    expected = torch.tensor([-1.341635, -0.447212, 0.447212, 1.341635])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    assert norm(torch.full((4,), 7.0)).abs().max() == 0


def test_after_a_post_norm_each_word_has_mean_0_and_variance_1():
    output = Residual(SIZES)(states(2, 3, 16), lambda x: 5 * x + 1)
    torch.testing.assert_close(output.mean(-1), torch.zeros(2, 3), atol=1e-5, rtol=0)
    variance = output.var(-1, correction=0)
    torch.testing.assert_close(variance, torch.ones(2, 3), atol=1e-3, rtol=0)


def test_a_sublayer_of_zeros_leaves_the_norm_or_with_pre_norm_the_input():
    given = states(2, 3, 16)
    after, before = (Residual(replace(SIZES, pre_norm=flag)) for flag in (False, True))
    torch.testing.assert_close(after(given, torch.zeros_like), after.norm(given))
    assert torch.equal(before(given, torch.zeros_like), given)


def test_dropout_falls_on_the_sublayer_and_not_on_the_residual():
    torch.manual_seed(0)
    residual = Residual(replace(SIZES, dropout=0.5)).train()
    residual.norm = nn.Identity()
    difference = residual(torch.full((50, 16), 3.0), torch.ones_like) - 3
    assert set(difference.unique().tolist()) == {0.0, 2.0}
    assert residual.dropout.p == 0.5
    assert {
        m.p for m in EncoderLayer(SIZES).modules() if isinstance(m, nn.Dropout)
    } == {0.0}


def test_the_feed_forward_network_by_hand():
    network = FeedForward(2, 3)
    with torch.no_grad():
        network.inner.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
        network.inner.bias.copy_(torch.tensor([0.0, -1.0, 0.0]))
        network.outer.weight.copy_(torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]))
        network.outer.bias.copy_(torch.tensor([0.5, 0.0]))
    # x = (2, 3): inner 2, 2, -5; after the ReLU 2, 2, 0; outer 6 and 2.
    assert network(torch.tensor([2.0, 3.0])).tolist() == [6.5, 2.0]


def test_the_feed_forward_network_sees_one_position_at_a_time():
    network, given = FeedForward(16, 24), states(1, 4, 16)
    before = network(given)
    given[0, 2] += 1
    changed = (network(given) != before).any(-1)[0]
    assert changed.tolist() == [False, False, True, False]


def copy_attention(ours, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(
        torch.cat([ours.query.weight, ours.key.weight, ours.value.weight])
    )
    theirs.in_proj_bias.zero_()
    theirs.out_proj.weight.copy_(ours.output.weight)
    theirs.out_proj.bias.zero_()


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_encoder_layer_equals_the_librarys(pre_norm):
    ours = EncoderLayer(replace(SIZES, pre_norm=pre_norm))
    theirs = nn.TransformerEncoderLayer(
        16, 4, 24, dropout=0.0, batch_first=True, norm_first=pre_norm
    )
    with torch.no_grad():
        copy_attention(ours.attention, theirs.self_attn)
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    given = states(2, 5, 16)
    torch.testing.assert_close(ours(given, None), theirs(given))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_the_decoder_layer_equals_the_librarys(pre_norm):
    ours = DecoderLayer(replace(SIZES, pre_norm=pre_norm))
    theirs = nn.TransformerDecoderLayer(
        16, 4, 24, dropout=0.0, batch_first=True, norm_first=pre_norm
    )
    with torch.no_grad():
        copy_attention(ours.self_attention, theirs.self_attn)
        copy_attention(ours.cross_attention, theirs.multihead_attn)
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    given, memory, mask = states(2, 5, 16), states(2, 7, 16, seed=1), causal_mask(5)
    expected = theirs(given, memory, tgt_mask=~mask)
    torch.testing.assert_close(ours(given, memory, mask, None), expected)


def test_every_parameter_of_a_decoder_layer_is_used():
    layer = DecoderLayer(SIZES)
    weights = states(2, 5, 16, seed=2)  # a plain sum after a norm has no gradient
    (
        layer(states(2, 5, 16), states(2, 7, 16, seed=1), None, None) * weights
    ).sum().backward()
    assert [
        n for n, p in layer.named_parameters() if p.grad is None or not p.grad.any()
    ] == []


def test_parameters_of_a_layer_by_formula():
    d, ff = 512, 2048
    feed_forward = 2 * d * ff + ff + d
    count = lambda layer: sum(p.numel() for p in layer.parameters())  # noqa: E731
    assert count(EncoderLayer(BASE)) == 4 * d * d + feed_forward + 4 * d
    assert count(DecoderLayer(BASE)) == 8 * d * d + feed_forward + 6 * d
