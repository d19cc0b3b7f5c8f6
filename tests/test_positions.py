"""Sinusoidal and learned positions."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer.config import TINY
from annotated_transformer.model import Transformer
from annotated_transformer.positions import (
    LearnedPositions,
    SinusoidalPositions,
    sinusoidal_positions,
)


def test_position_1_of_width_4_by_hand():
    expected = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
    found = sinusoidal_positions(2, 4)[1]
    torch.testing.assert_close(found, torch.tensor(expected))
    rounded = [round(value, 6) for value in found.tolist()]
    assert rounded == [0.841471, 0.540302, 0.01, 0.99995]


def test_position_50_of_width_512():
    row = sinusoidal_positions(51, 512)[50]
    first = torch.tensor([-0.262375, 0.964966, -0.895339, -0.445386])
    torch.testing.assert_close(row[:4], first, atol=1e-6, rtol=0)
    middle = torch.tensor([0.479426, 0.877583])
    torch.testing.assert_close(row[256:258], middle, atol=1e-6, rtol=0)


@given(position=st.integers(0, 10_000), column=st.integers(0, 255))
def test_any_entry_is_the_formulas_in_double_precision(position, column):
    angle = position / 10_000 ** (2 * column / 512)
    row = sinusoidal_positions(1, 512, start=position)[0]
    pair = torch.tensor([math.sin(angle), math.cos(angle)])
    torch.testing.assert_close(
        row[2 * column : 2 * column + 2], pair, atol=1e-5, rtol=0
    )


def test_each_pair_lies_on_the_unit_circle():
    table = sinusoidal_positions(100, 512)
    torch.testing.assert_close(table.square().sum(-1), torch.full((100,), 256.0))


def test_wavelengths_grow_from_2_pi_to_10_000_times_2_pi():
    table = sinusoidal_positions(2, 512)[1]
    frequencies = torch.atan2(table[0::2], table[1::2])
    assert (frequencies.diff() < 0).all()
    assert frequencies[0].item() == pytest.approx(1)
    assert frequencies[-1].item() == pytest.approx(10_000 ** (-510 / 512), rel=1e-4)


@given(offset=st.integers(-20, 20), position=st.integers(20, 400))
def test_an_offset_is_one_linear_map_for_all_positions(offset, position):
    table = sinusoidal_positions(500, 64).double()
    frequency = 10_000 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
    sine, cosine = table[position, 0::2], table[position, 1::2]
    angle = offset * frequency
    moved = torch.stack(
        [
            sine * angle.cos() + cosine * angle.sin(),
            cosine * angle.cos() - sine * angle.sin(),
        ],
        dim=-1,
    ).flatten()
    torch.testing.assert_close(moved, table[position + offset], atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_position_6_000_is_right_also_under_autocast(dtype):
    positions = SinusoidalPositions(64)
    with torch.autocast("cpu", dtype, enabled=dtype is not None):
        row = positions(1, start=6000)[0]
    exact = [
        f(6000 / 10_000 ** (2 * i / 64))
        for i in range(32)
        for f in (math.sin, math.cos)
    ]
    torch.testing.assert_close(
        row.double(), torch.tensor(exact).double(), atol=1e-4, rtol=0
    )


def test_a_table_that_grew_is_the_table():
    positions = SinusoidalPositions(8)
    assert torch.equal(positions(700), sinusoidal_positions(700, 8))
    assert torch.equal(positions(3, start=697), sinusoidal_positions(700, 8)[697:])
    assert "table" not in positions.state_dict()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_a_table_that_grows_keeps_the_type_of_its_model(dtype):
    positions = SinusoidalPositions(8).to(dtype)
    assert positions(700).dtype == positions(5).dtype == dtype


def test_an_odd_width_is_refused_by_name():
    with pytest.raises(ValueError, match="d_model=5 is odd"):
        sinusoidal_positions(3, 5)


def test_learned_positions_end_where_they_were_trained():
    positions = LearnedPositions(8, max_length=4)
    assert positions(4).shape == (4, 8)
    with pytest.raises(ValueError, match=r"position 4 is beyond max_length=4"):
        positions(5)
    with pytest.raises(ValueError, match=r"position 6 is beyond"):
        positions(3, start=4)


def test_encoder_and_decoder_count_from_0():
    model = Transformer(TINY).eval()
    tokens = torch.full((1, 5), 7)
    words = model.embedding(tokens)
    torch.testing.assert_close(
        (model.embed(tokens) - words)[0],
        sinusoidal_positions(5, TINY.d_model),
        atol=1e-5,
        rtol=0,
    )
