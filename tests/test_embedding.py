"""Token embeddings and the matrix they share with the output."""

import copy
import math

import pytest
import torch
from torch.nn import functional

from annotated_transformer.config import TINY
from annotated_transformer.embedding import Embedding
from annotated_transformer.model import Transformer, parameter_count


def test_a_vector_is_its_row_times_the_root_of_d_model():
    embedding = Embedding(10, 16)
    row = embedding.table.weight[7]
    torch.testing.assert_close(embedding(torch.tensor([[7]]))[0, 0], 4 * row)


def test_logits_are_dot_products_with_the_same_rows_and_are_not_scaled():
    embedding, states = Embedding(10, 16), torch.randn(2, 3, 16)
    expected = states @ embedding.table.weight.mT
    torch.testing.assert_close(embedding.logits(states), expected)


def test_entries_start_with_a_variance_of_1_over_d_model():
    torch.manual_seed(0)
    embedding = Embedding(1000, 512)
    assert embedding.table.weight.std().item() == pytest.approx(512**-0.5, rel=0.01)
    assert embedding(torch.arange(1000)).std().item() == pytest.approx(1, rel=0.01)


def test_the_first_loss_is_near_ln_n():
    torch.manual_seed(0)
    embedding = Embedding(1000, 512)
    states = functional.layer_norm(torch.randn(64, 512), (512,))
    targets = torch.randint(1000, (64,))
    loss = functional.cross_entropy(embedding.logits(states), targets)
    assert abs(loss.item() - math.log(1000)) < 0.7


def test_one_matrix_is_one_storage_and_gets_one_gradient_from_both_uses():
    embedding = Embedding(10, 8)
    assert embedding.output.weight is embedding.table.weight
    assert parameter_count(embedding) == 80
    embedding.logits(embedding(torch.tensor([3]))).sum().backward()
    rows = embedding.table.weight.grad.abs().sum(-1)
    assert (rows > 0).all()


def test_untied_it_has_two():
    embedding = Embedding(10, 8, tied=False)
    assert embedding.output.weight is not embedding.table.weight
    assert parameter_count(embedding) == 160


@pytest.mark.parametrize(
    "change",
    [
        copy.deepcopy,
        lambda model: model.to(torch.float64),
        lambda model: model.to("cpu").half().float(),
        lambda model: (model.load_state_dict(copy.deepcopy(model.state_dict())), model)[
            1
        ],
    ],
)
def test_what_is_tied_stays_tied(change):
    model = change(Transformer(TINY))
    table, output = model.embedding.table.weight, model.embedding.output.weight
    assert table.data_ptr() == output.data_ptr()
    assert sum(p is table for p in model.parameters()) == 1
