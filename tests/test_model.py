"""The whole model: causality, padding, the cache, the start, the maps."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from annotated_transformer.batching import Batch
from annotated_transformer.config import TINY, Recipe
from annotated_transformer.model import (
    Transformer,
    attention_maps,
    parameter_count,
    usable,
)
from annotated_transformer.tokenizer import BOS, EOS, PAD
from annotated_transformer.training import batch_loss, start, update

SIZES = replace(TINY, vocabulary=50, d_model=16, d_ff=24, heads=2, layers=2)
VARIANTS = {
    "post": SIZES,
    "pre": replace(SIZES, pre_norm=True),
    "learned": replace(SIZES, learned_positions=True, max_length=64),
    "untied": replace(SIZES, tied=False),
    "other widths": replace(SIZES, d_k=3, d_v=5),
}
variant = pytest.mark.parametrize("name", VARIANTS)


def model(name: str = "post", train: bool = False) -> Transformer:
    torch.manual_seed(0)
    return Transformer(VARIANTS[name]).train(train)


def tokens(*shape: int, seed: int = 0) -> Tensor:
    return torch.randint(4, 50, shape, generator=torch.Generator().manual_seed(seed))


@variant
@given(rows=st.integers(1, 3), length=st.integers(2, 9), data=st.data())
def test_what_comes_after_a_position_does_not_change_it(name, rows, length, data):
    at = data.draw(st.integers(1, length - 1))
    train = data.draw(st.booleans())  # there is no dropout in these sizes
    network, source, target = (
        model(name, train),
        tokens(rows, 5),
        tokens(rows, length, seed=1),
    )
    before = network(source, target)
    target[:, at] = (target[:, at] - 3) % 46 + 4
    after = network(source, target)
    assert torch.equal(before[:, :at], after[:, :at])
    assert (before[:, at:] != after[:, at:]).any(-1).all()


@variant
@given(padding=st.integers(1, 6), seed=st.integers(0, 20))
def test_padding_changes_nothing(name, padding, seed):
    network, source, target = (
        model(name),
        tokens(2, 5, seed=seed),
        tokens(2, 4, seed=seed + 1),
    )
    before = network(source, target)
    wide = torch.nn.functional.pad(source, (0, padding), value=PAD)
    longer = torch.nn.functional.pad(target, (0, padding), value=PAD)
    torch.testing.assert_close(
        network(wide, longer)[:, :4], before, atol=1e-5, rtol=1e-5
    )


@variant
def test_batch_mates_change_nothing(name):
    network, source, target = model(name), tokens(4, 6), tokens(4, 5, seed=1)
    source[1, 3:] = PAD
    together = network(source, target)
    for row in range(4):
        alone = network(source[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], atol=1e-5, rtol=1e-5)


@variant
def test_decoding_by_steps_equals_decoding_at_once(name):
    network, source, target = model(name), tokens(3, 6), tokens(3, 7, seed=1)
    source[2, 2:] = PAD
    whole = network(source, target)
    decoding = network.begin(source)
    for t in range(7):
        torch.testing.assert_close(
            decoding.step(target[:, t]), whole[:, t], atol=1e-5, rtol=1e-5
        )


def test_several_tokens_at_once_with_caches_are_refused():
    network, source = model(), tokens(2, 5)
    decoding = network.begin(source)
    with pytest.raises(ValueError, match="3 new tokens with caches, which take one"):
        network.decode(
            tokens(2, 3), decoding.memory, decoding.memory_mask, decoding.caches
        )


@variant
def test_steps_follow_rows_that_are_dropped_reordered_and_doubled(name):
    network, source, target = model(name), tokens(3, 6), tokens(3, 5, seed=1)
    decoding, rows = network.begin(source), torch.tensor([2, 0, 2, 2])
    for t in range(3):
        decoding.step(target[:, t])
    decoding.keep(rows)
    whole = network(source[rows], target[rows])
    for t in (3, 4):
        step = decoding.step(target[rows, t])
        torch.testing.assert_close(step, whole[:, t], atol=1e-5, rtol=1e-5)


def test_every_parameter_has_a_gradient(batch):
    network = Transformer(TINY)
    batch_loss(network, batch, 0.1)[0].backward()
    dead = [
        n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()
    ]
    assert dead == []


def test_one_sentence_of_nothing_but_padding_leaves_gradients_finite():
    network = model(train=True)
    source = torch.tensor([[5, 6, EOS], [PAD, PAD, PAD]])
    target = torch.tensor([[BOS, 7, EOS], [BOS, 8, EOS]])
    loss, _ = batch_loss(network, Batch(source, target), 0.1)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad.isfinite().all() for p in network.parameters())


def test_layers_are_different_tensors_with_different_values():
    network = model()
    for stack in (network.encoder, network.decoder):
        for first, second in zip(
            stack[0].parameters(), stack[1].parameters(), strict=True
        ):
            assert first.data_ptr() != second.data_ptr()
            if first.dim() > 1:
                assert not torch.equal(first, second)


def test_a_post_norm_stack_has_no_norm_at_its_top_and_a_pre_norm_one_has():
    assert not [*model("post").encoder_norm.parameters()]
    assert parameter_count(model("pre")) == parameter_count(model("post")) + 4 * 16
    for name in ("post", "pre"):
        memory = model(name).encode(tokens(2, 5))
        torch.testing.assert_close(
            memory.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0
        )


@pytest.mark.parametrize("name", ["post", "untied"])
def test_the_first_loss_is_near_ln_n(name):
    torch.manual_seed(0)
    network = Transformer(replace(TINY, tied=VARIANTS[name].tied)).eval()
    batch = Batch(tokens(40, 9), tokens(40, 9, seed=1))
    loss, count = batch_loss(network, batch, 0.0)
    assert abs(loss.item() / count - math.log(TINY.vocabulary)) < 0.7


def test_a_target_without_relation_to_anything_can_not_be_learned():
    # A leak, of whatever kind, would let the model read the answer.
    config = replace(TINY, vocabulary=100, d_model=32, d_ff=64, layers=1, heads=2)
    training = start(config, Recipe(warmup=50))
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(200):
        target = torch.randint(4, 100, (16, 8), generator=generator)
        target[:, 0] = BOS
        source = torch.randint(4, 100, (16, 6), generator=generator)
        losses.append(update(training, [Batch(source, target)]))
    assert sum(losses[-20:]) / 20 > math.log(96) - 0.1


def test_dropout_0_is_0_everywhere_and_dropout_p_is_p():
    for p in (0.0, 0.3):
        network = Transformer(replace(SIZES, dropout=p))
        kinds = [m.p for m in network.modules() if isinstance(m, torch.nn.Dropout)]
        # One on embedding plus position, and one a sub-layer: 2 and 3 in each layer.
        assert kinds == [p] * (1 + 2 * 2 + 2 * 3)


def test_maps_are_of_this_pass_with_dropout_off_and_leave_the_model_as_it_was():
    torch.manual_seed(0)
    network = Transformer(replace(SIZES, dropout=0.5)).train()
    source, target = tokens(2, 6), tokens(2, 4, seed=1)
    source[1, 4:] = PAD
    maps = attention_maps(network, source, target)
    assert network.training
    assert maps.encoder.shape == (2, 2, 2, 6, 6)
    assert maps.decoder.shape == (2, 2, 2, 4, 4)
    assert maps.cross.shape == (2, 2, 2, 4, 6)
    for weights in (maps.encoder, maps.decoder, maps.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert not maps.decoder.triu(1).any()
    assert (
        not maps.cross[:, 1, :, :, 4:].any() and not maps.encoder[:, 1, :, :, 4:].any()
    )
    again = attention_maps(network, source, target)
    assert torch.equal(maps.cross, again.cross)
    assert not network.encoder[0].attention._forward_hooks


def test_the_end_mark_as_an_input_does_not_change_the_loss():
    network = model()
    batch = Batch(tokens(1, 4), torch.tensor([[BOS, 9, EOS, PAD]]))
    before, count = batch_loss(network, batch, 0.1)
    # Only as an input: the tied matrix would change the label's logit as well.
    hook = network.embedding.register_forward_hook(
        lambda _module, given, out: out + (given[0] == EOS)[..., None]
    )
    after, _ = batch_loss(network, replace(batch, source=batch.source), 0.1)
    hook.remove()
    assert count == 2
    torch.testing.assert_close(before, after)


@pytest.mark.parametrize("device", ["nonsense", "cpu:x", "", "cuda:99"])
def test_a_device_that_is_not_here_is_refused_by_name(device):
    with pytest.raises(ValueError, match=rf"device '{device}' can't be used \(.*cpu"):
        usable(device)
    assert usable("cpu") == torch.device("cpu")
