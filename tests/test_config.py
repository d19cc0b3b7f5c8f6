"""Settings: checked once, each a difference from another."""

import math
from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from annotated_transformer.config import (
    BASE,
    BIG,
    MODELS,
    RECIPES,
    SMALL,
    TABLE_3,
    Config,
    Recipe,
)
from annotated_transformer.model import Transformer, parameter_count


def by_formula(config: Config) -> int:
    """Parameters as the paper's text implies, with one tied matrix."""
    d, h, ff = config.d_model, config.heads, config.d_ff
    d_k = config.d_k or d // h
    d_v = config.d_v or d // h
    attention = 2 * d * h * d_k + 2 * d * h * d_v
    feed_forward = 2 * d * ff + ff + d
    encoder = attention + feed_forward + 4 * d
    decoder = 2 * attention + feed_forward + 6 * d
    learned = config.max_length * d if config.learned_positions else 0
    return config.layers * (encoder + decoder) + config.vocabulary * d + learned


@pytest.mark.parametrize("name", TABLE_3)
def test_every_row_of_table_3_has_the_parameters_of_its_formula(name):
    with torch.device("meta"):
        model = Transformer(TABLE_3[name])
    assert parameter_count(model) == by_formula(TABLE_3[name])


def test_base_and_big_to_the_unit():
    with torch.device("meta"):
        counts = [parameter_count(Transformer(config)) for config in (BASE, BIG)]
    assert counts == [63_045_632, 214_171_648]


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("B16", 58),
        ("B32", 60),
        ("C2", 36),
        ("C4", 50),
        ("C8", 80),
        ("C256", 28),
        ("C1024", 168),
        ("C-ff1024", 53),
        ("C-ff4096", 90),
        ("base", 65),
        ("big", 213),
    ],
)
def test_the_printed_counts_are_those_of_about_41_000_pieces(name, millions):
    # The text says 37,000, and its table implies more: 65 M for base.
    config = replace(TABLE_3[name], vocabulary=41_000)
    assert by_formula(config) / 1e6 == pytest.approx(millions, rel=0.03)


def test_widths_of_heads_follow_the_number_of_heads():
    for heads in (1, 4, 16, 32):
        with torch.device("meta"):
            layer = Transformer(replace(BASE, layers=1, heads=heads)).encoder[0]
        assert layer.attention.query.out_features == 512


def test_small_fits_two_cores_and_the_paper_fits_the_recipe():
    assert (SMALL.layers, SMALL.d_model, SMALL.d_ff, SMALL.heads) == (3, 256, 1024, 4)
    assert set(MODELS) == set(RECIPES)
    base, big = RECIPES["base"], RECIPES["big"]
    assert (base.steps, base.tokens, base.warmup, base.smoothing) == (
        100_000,
        25_000,
        4000,
        0.1,
    )
    assert (big.steps, base.keep, big.keep) == (300_000, 5, 20)
    assert (BASE.dropout, BIG.dropout, BIG.d_model, BIG.d_ff, BIG.heads) == (
        0.1,
        0.3,
        1024,
        4096,
        16,
    )


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("heads", 7, r"d_model=512 does not divide into heads=7.*divisor"),
        ("d_model", 511, "d_model=511 is odd"),
        ("layers", 0, "layers=0 must be at least 1"),
        ("vocabulary", -1, "vocabulary=-1"),
        ("dropout", 1.0, "dropout=1.0 must be at least 0 and below 1"),
        ("d_k", 0, "d_k=0"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(field, value, message):
    with pytest.raises(ValueError, match=message):
        replace(BASE, **{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 0),
        ("tokens", 0),
        ("minutes", 0),
        ("warmup", 0),
        ("smoothing", 1.0),
        ("rate", 0),
        ("keep", 0),
        ("patience", 0),
        ("validate_every", 0),
        ("accumulate", 0),
        ("rate", math.nan),
        ("rate", math.inf),
        ("minutes", math.nan),
        ("seed", -1),
        ("seed", 2**63),
    ],
)
def test_a_recipe_out_of_range_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"{field}={value} must be"):
        Recipe(**{field: value})


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError):
        BASE.heads = 4


def test_more_micro_batches_than_tokens_are_refused():
    with pytest.raises(
        ValueError, match="tokens=600 can't be shared by accumulate=700"
    ):
        Recipe(tokens=600, accumulate=700)
