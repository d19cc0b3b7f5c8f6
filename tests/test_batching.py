"""Pairs to batches: marks, padding, budget, order."""

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from annotated_transformer import tokenizer
from annotated_transformer.batching import (
    Batch,
    Batches,
    collate,
    encode_pairs,
    encode_source,
    group_by_length,
    pad,
)
from annotated_transformer.tokenizer import BOS, EOS, PAD

lengths = st.lists(
    st.tuples(st.integers(1, 30), st.integers(2, 30)), min_size=1, max_size=60
)


def examples(sizes: list[tuple[int, int]]) -> list:
    return [
        ([number + 4] * (s - 1) + [EOS], [BOS, *[number + 4] * (t - 2), EOS])
        for number, (s, t) in enumerate(sizes)
    ]


@pytest.fixture(scope="module")
def pieces():
    return tokenizer.train(
        ["a small dog", "ein kleiner Hund", "der die das ist"] * 9, 290
    )


def test_source_ends_in_eos_and_target_begins_and_ends(pieces):
    [(source, target)], left_out = encode_pairs([("a dog", "ein Hund")], pieces)
    assert source == [*pieces.encode("a dog"), EOS]
    assert target == [BOS, *pieces.encode("ein Hund"), EOS]
    assert left_out == 0


def test_inputs_and_labels_are_the_target_one_place_apart():
    batch = collate([([5, EOS], [BOS, 7, EOS]), ([5, 6, EOS], [BOS, 7, 8, 9, EOS])])
    assert batch.inputs.tolist() == [[BOS, 7, EOS, PAD], [BOS, 7, 8, 9]]
    assert batch.labels.tolist() == [[7, EOS, PAD, PAD], [7, 8, 9, EOS]]
    assert batch.tokens == 6
    assert (batch.labels == EOS).sum() == 2


def test_padding_stands_on_the_right():
    assert pad([[1, 2, 3], [4]]).tolist() == [[1, 2, 3], [4, PAD, PAD]]


def test_a_pair_that_is_too_long_is_left_out_and_counted(pieces):
    pairs = [("a dog", "ein Hund"), ("a dog " * 40, "ein Hund"), ("a", "der " * 90)]
    kept, left_out = encode_pairs(pairs, pieces, longest=50)
    assert len(kept) == 1 and left_out == 2


def test_a_source_that_is_cut_still_ends_in_eos(pieces):
    ids = encode_source("a dog " * 40, pieces, longest=10)
    assert len(ids) == 10 and ids[-1] == EOS


@given(sizes=lengths, budget=st.integers(30, 120))
def test_rows_times_the_longest_row_stay_within_the_budget(sizes, budget):
    given_examples = examples(sizes)
    groups = group_by_length(given_examples, budget)
    placed = sorted(index for group in groups for index in group)
    assert placed == list(range(len(sizes)))
    for group in groups:
        batch = collate([given_examples[index] for index in group])
        assert batch.source.numel() <= budget and batch.target.numel() <= budget


def test_the_padded_size_counts_and_not_the_words():
    sizes = [(5, 5), (5, 5), (5, 5), (40, 40)]
    assert group_by_length(examples(sizes), 60) == [[0, 1, 2], [3]]


def test_a_sentence_above_the_budget_is_named_before_training_begins():
    with pytest.raises(ValueError, match=r"sentence of 25 tokens .* batch of 10"):
        group_by_length(examples([(4, 4), (25, 3)]), 10)


@given(sizes=lengths, epoch=st.integers(0, 3), seed=st.integers(0, 3))
def test_each_epoch_has_every_sentence_once(sizes, epoch, seed):
    batches = list(Batches(examples(sizes), 60, seed).epoch(epoch))
    first = sorted(row[0].item() for batch in batches for row in batch.target[:, 1:])
    expected = sorted(target[1] for _, target in examples(sizes))
    assert first == expected


def many() -> list:
    return examples([(2 + i % 13, 3 + i % 17) for i in range(400)])


def text(batches: list[Batch]) -> str:
    return str([(b.source.tolist(), b.target.tolist()) for b in batches])


def test_order_is_a_function_of_seed_and_epoch():
    batches = Batches(many(), 60, seed=1)
    assert text(list(batches.epoch(0))) == text(list(batches.epoch(0)))
    others = [Batches(many(), 60, seed=2).epoch(0), batches.epoch(1)]
    assert all(text(list(batches.epoch(0))) != text(list(other)) for other in others)


def test_short_sentences_do_not_come_first():
    widths = [batch.target.size(1) for batch in Batches(many(), 60).epoch(0)]
    assert widths != sorted(widths)
    half = len(widths) // 2
    assert (
        abs(sum(widths[:half]) / half - sum(widths[half:]) / (len(widths) - half)) < 3
    )


def test_neighbours_change_from_epoch_to_epoch():
    batches = Batches(many(), 60)
    groups = [
        {tuple(sorted(b.source[:, 0].tolist())) for b in batches.epoch(e)}
        for e in (0, 1)
    ]
    assert groups[0] != groups[1]


@given(skip=st.integers(0, 30))
def test_skipping_gives_the_rest_of_the_same_epoch(skip):
    batches = Batches(many(), 200)
    assert text(list(batches.epoch(2, skip))) == text(list(batches.epoch(2))[skip:])


def test_little_of_a_batch_is_padding():
    batches = list(Batches(many(), 300).epoch(0))
    words = sum(batch.tokens for batch in batches)
    assert words / sum(batch.labels.numel() for batch in batches) > 0.85


def test_what_a_worker_process_needs_can_be_sent_to_it(batch):
    again = pickle.loads(pickle.dumps(Batches(many(), 60)))
    assert text(list(again.epoch(0))) == text(list(Batches(many(), 60).epoch(0)))
    assert pickle.loads(pickle.dumps(collate)) is collate
    assert torch.equal(batch.to("cpu").source, batch.source)
