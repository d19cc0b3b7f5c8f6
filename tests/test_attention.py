"""Scaled dot-product attention and its masks."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from annotated_transformer.attention import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)


def random(*shape: int, seed: int = 0, **more) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, **more)


def test_scores_of_0_and_ln_3_give_weights_of_1_4_and_3_4():
    query, key = torch.tensor([[math.log(3.0)]]), torch.tensor([[0.0], [1.0]])
    output, weights = scaled_dot_product_attention(query, key, value=4 * key)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75]]))
    torch.testing.assert_close(output, torch.tensor([[3.0]]))


def test_scores_are_divided_by_the_root_of_d_k():
    query = key = torch.full((1, 64), 2.0)
    key = torch.stack([key[0], 0 * key[0]])
    _, weights = scaled_dot_product_attention(query, key, key)
    # q·k = 256, over 8 is 32; the other key scores 0.
    torch.testing.assert_close(
        weights[0, 1].log(), torch.tensor(-32.0), atol=1e-3, rtol=0
    )


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16]
)
@pytest.mark.parametrize("causal", [False, True])
def test_it_equals_the_libraries_own(dtype, causal):
    query, key, value = (random(2, 3, 5, 8, seed=i).to(dtype) for i in range(3))
    mask = causal_mask(5) if causal else None
    ours, _ = scaled_dot_product_attention(query, key, value, mask)
    theirs = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    # Half precision rounds the weights before they are used.
    loose = {"atol": 2e-2, "rtol": 2e-2} if dtype.itemsize == 2 else {}
    torch.testing.assert_close(ours, theirs, **loose)


@given(length=st.integers(1, 7), padding=st.integers(0, 5), seed=st.integers(0, 99))
def test_masked_positions_may_hold_anything(length, padding, seed):
    query = random(2, 3, 4, seed=seed)
    key, value = random(2, 2, length + padding, 4, seed=seed + 1)
    mask = torch.arange(length + padding) < length
    before, _ = scaled_dot_product_attention(query, key, value, mask)
    for anything in (1e4, 1e10, math.inf, math.nan):
        key[:, length:], value[:, length:] = anything, anything
        after, _ = scaled_dot_product_attention(query, key, value, mask)
        assert torch.equal(after, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_row_without_keys_gives_zeros_and_finite_gradients(dtype):
    source = random(2, 4, 8).to(dtype).requires_grad_()
    mask = torch.tensor([[[True] * 4], [[False] * 4]])
    output, weights = scaled_dot_product_attention(source, source, source, mask)
    assert output[1].abs().sum() == 0 and weights[1].abs().sum() == 0
    output.sum().backward()
    assert source.grad.isfinite().all()
    alone, _ = scaled_dot_product_attention(source[:1], source[:1], source[:1])
    torch.testing.assert_close(output[:1], alone)


def test_rows_of_weights_sum_to_1():
    query = random(2, 3, 5, 8)
    _, weights = scaled_dot_product_attention(query, query, query, causal_mask(5))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))


def test_the_causal_mask_allows_each_row_one_more_key():
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert causal_mask(4).int().tolist() == expected
    assert causal_mask(7).sum() == 7 * 8 / 2


def test_the_first_position_attends_to_itself():
    query = random(3, 4)
    _, weights = scaled_dot_product_attention(query, query, query, causal_mask(3))
    assert weights[0].tolist() == [1.0, 0.0, 0.0]


def test_padding_takes_columns_away_and_never_rows():
    tokens = torch.tensor([[5, 7, 0, 0]])
    mask = padding_mask(tokens)
    assert mask.shape == (1, 1, 1, 4)
    query = random(1, 2, 4, 8)
    _, weights = scaled_dot_product_attention(query, query, query, mask)
    assert (weights[..., 2:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(1, 2, 4))


def test_the_padding_number_is_a_choice():
    assert padding_mask(torch.tensor([[9, 3]]), pad=9).flatten().tolist() == [
        False,
        True,
    ]


def test_true_permits_as_in_the_librarys_function_and_not_as_in_its_module():
    query, mask = random(1, 1, 4, 8), torch.tensor([True, True, False, False])
    ours, weights = scaled_dot_product_attention(query, query, query, mask)
    assert (weights[..., 2:] == 0).all() and (weights[..., :2] > 0).all()
    same = functional.scaled_dot_product_attention(query, query, query, mask[None])
    inverse = functional.scaled_dot_product_attention(query, query, query, ~mask[None])
    torch.testing.assert_close(ours, same)
    assert not torch.allclose(ours, inverse)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_of_numbers_is_refused_with_the_way_to_make_one(dtype):
    query = random(2, 4)
    with pytest.raises(ValueError, match=r"must be bool.*compare \(mask > 0\)"):
        scaled_dot_product_attention(query, query, query, torch.ones(2, 2, dtype=dtype))
