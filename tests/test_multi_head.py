"""Multi-head attention and its cache."""

import pytest
import torch
from torch import nn

from annotated_transformer.attention import causal_mask, padding_mask
from annotated_transformer.multi_head import (
    Cache,
    MultiHeadAttention,
    join_heads,
    split_heads,
)


def attention(d_model: int = 12, heads: int = 3, **more: int) -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(d_model, heads, **more)


def test_a_head_takes_its_columns_of_every_word():
    states = torch.arange(8).reshape(1, 2, 4)
    assert split_heads(states, 2)[0, 0].tolist() == [[0, 1], [4, 5]]
    assert torch.equal(join_heads(split_heads(states, 2)), states)


def test_heads_are_joined_in_order():
    heads = torch.arange(3.0).reshape(1, 3, 1, 1).expand(1, 3, 5, 2)
    assert join_heads(heads)[0].tolist() == [[0, 0, 1, 1, 2, 2]] * 5


def test_a_word_that_sees_only_itself_does_not_depend_on_others():
    layer, states = attention(), torch.randn(1, 4, 12)
    before, _ = layer(states, states, torch.eye(4, dtype=torch.bool))
    states[0, 1] += 1
    after, _ = layer(states, states, torch.eye(4, dtype=torch.bool))
    assert torch.equal(before[0, [0, 2, 3]], after[0, [0, 2, 3]])


@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_the_librarys_module_with_the_same_weights(causal):
    ours = attention(16, 4)
    theirs = nn.MultiheadAttention(16, 4, bias=False, batch_first=True)
    with torch.no_grad():
        packed = [ours.query.weight, ours.key.weight, ours.value.weight]
        theirs.in_proj_weight.copy_(torch.cat(packed))
        theirs.out_proj.weight.copy_(ours.output.weight)
    states, memory = torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    mask = causal_mask(5) if causal else None
    output, weights = ours(states, memory, mask)
    blocked = None if mask is None else ~mask
    expected, maps = theirs(
        states, memory, memory, attn_mask=blocked, average_attn_weights=False
    )
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, maps)


@pytest.mark.parametrize("heads", [1, 4, 8, 16, 32])
def test_any_number_of_heads_has_the_same_parameters(heads):
    layer = MultiHeadAttention(512, heads)
    assert sum(p.numel() for p in layer.parameters()) == 4 * 512 * 512 == 1_048_576
    assert layer.query.out_features // heads == 512 // heads


def test_keys_and_values_may_have_other_widths():
    layer = attention(12, 3, d_k=2, d_v=5)
    output, weights = layer(torch.randn(2, 4, 12), torch.randn(2, 7, 12))
    assert output.shape == (2, 4, 12) and weights.shape == (2, 3, 4, 7)
    assert sum(p.numel() for p in layer.parameters()) == 2 * 12 * 6 + 2 * 12 * 15


def test_a_width_that_does_not_divide_is_refused_by_name():
    with pytest.raises(ValueError, match=r"d_model=512 .* heads=7.*divisor"):
        MultiHeadAttention(512, 7)


def test_projections_start_as_separate_matrices_do():
    torch.manual_seed(0)
    layer = MultiHeadAttention(512, 8)
    for projection in (layer.query, layer.key, layer.value, layer.output):
        assert projection.bias is None
        assert projection.weight.std().item() == pytest.approx(0.044194, rel=0.03)
        assert projection.weight.abs().max().item() <= 0.076547


def test_there_is_no_dropout_on_the_weights():
    layer = attention().train()
    states = torch.randn(2, 4, 12)
    assert torch.equal(layer(states, states)[0], layer(states, states)[0])
    assert not [m for m in layer.modules() if isinstance(m, nn.Dropout)]


def test_a_cache_gives_what_the_whole_gives():
    layer, states = attention().eval(), torch.randn(2, 6, 12)
    whole, _ = layer(states, states, causal_mask(6))
    cache = Cache()
    for t in range(6):
        now = states[:, t : t + 1]
        step, weights = layer(now, now, cache=cache)
        torch.testing.assert_close(step[:, 0], whole[:, t])
        assert weights.shape == (2, 3, 1, t + 1) and cache.length == t + 1


def test_a_cache_follows_rows_that_are_reordered_and_taken_twice():
    layer, states = attention().eval(), torch.randn(2, 3, 12)
    cache, rows = Cache(), torch.tensor([1, 0, 1])
    for t in range(2):
        layer(states[:, t : t + 1], states[:, t : t + 1], cache=cache)
    cache.keep(rows)
    now = states[rows, 2:3]
    step, _ = layer(now, now, cache=cache)
    whole, _ = layer(states[rows], states[rows], causal_mask(3))
    torch.testing.assert_close(step[:, 0], whole[:, 2])


def test_a_fixed_cache_computes_the_memory_once():
    layer, memory = attention().eval(), torch.randn(2, 5, 12)
    tokens = torch.tensor([[4, 5, 6, 7, 8], [4, 5, 0, 0, 0]])
    cache, mask = Cache(fixed=True), padding_mask(tokens)
    states = torch.randn(2, 1, 12)
    first, _ = layer(states, memory, mask, cache)
    again, _ = layer(states, torch.full_like(memory, torch.nan), mask, cache)
    assert torch.equal(first, again) and cache.length == 5
