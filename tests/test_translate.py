"""Text in, text and maps out: the shipped model, used as a reader uses it."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
import torch

from annotated_transformer import bleu, corpus, translate
from annotated_transformer.checkpoint import CheckpointError, read_tensors
from annotated_transformer.model import attention_maps, parameter_count
from annotated_transformer.tokenizer import BOS

WEIGHTS = Path(str(files("annotated_transformer") / "weights"))
SENTENCES = [
    "I have a dog.",
    "Where is the station?",
    "She doesn't want to go home because it is raining.",
    "Tom!",
    "We would like to know when the next train leaves.",
]


@pytest.fixture(scope="module")
def shipped() -> translate.Translator:
    return translate.load("shipped")


def test_the_shipped_model_is_small_half_precision_and_documented(shipped):
    path = WEIGHTS / "weights.safetensors"
    assert path.stat().st_size <= 15_000_000
    tensors, _ = read_tensors(path)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert parameter_count(shipped.model) <= 10_000_000
    card = (WEIGHTS / "README.md").read_text(encoding="utf-8")
    for word in ("CC-BY 2.0", "tatoeba.org", "manythings.org/anki", "signature"):
        assert word in card


def test_the_card_states_the_recorded_scores():
    card = (WEIGHTS / "README.md").read_text(encoding="utf-8")
    scores = json.loads((WEIGHTS / "scores.json").read_text(encoding="utf-8"))
    for name in ("test", "multi30k"):
        assert f"{scores[name]['bleu']:.1f}" in card
        assert scores[name]["signature"] in card


def test_the_shipped_model_scores_what_is_recorded(shipped, corpora):
    recorded = json.loads((WEIGHTS / "scores.json").read_text(encoding="utf-8"))[
        "first"
    ]
    split = corpus.load("tatoeba", cache=corpora).sets["test"]
    count = recorded["sentences"]
    assert count == 500
    texts = [found.text for found in shipped.translate(split.source[:count])]
    score = bleu.score(texts, split.references[:count]).bleu
    assert score == pytest.approx(recorded["bleu"], abs=0.3)


def test_order_and_batch_mates_do_not_change_a_translation(shipped):
    together = [found.text for found in shipped.translate(SENTENCES)]
    assert [shipped.translate([text])[0].text for text in SENTENCES] == together
    backwards = [found.text for found in shipped.translate(SENTENCES[::-1])]
    assert backwards[::-1] == together


def test_two_runs_give_the_same_text_and_score(shipped):
    shipped.model.train()  # translating turns dropout off by itself
    first, second = (shipped.translate(SENTENCES) for _ in range(2))
    assert [(f.text, f.score) for f in first] == [(f.text, f.score) for f in second]


def test_maps_are_those_of_a_forced_run_over_the_best_hypothesis(shipped):
    found = shipped.translate(SENTENCES, beam=4)[2]
    target = torch.tensor([[BOS, *found.ids]])
    forced = attention_maps(shipped.model, torch.tensor([found.source_ids]), target)
    torch.testing.assert_close(found.attention.cross, forced.cross[:, 0])
    layers, heads = shipped.model.config.layers, shipped.model.config.heads
    rows, columns = len(found.outputs), len(found.source_tokens)
    assert found.attention.cross.shape == (layers, heads, rows, columns)
    assert found.attention.encoder.shape == (layers, heads, columns, columns)
    assert found.attention.decoder.shape == (layers, heads, rows, rows)
    assert len(found.inputs) == rows


def test_rows_of_weights_sum_to_one_with_dropout_off(shipped):
    maps = shipped.translate(SENTENCES)[0].attention
    for weights in (maps.encoder, maps.decoder, maps.cross):
        sums = weights.sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))


def test_empty_and_blank_sentences_stay_empty(shipped):
    found = shipped.translate(["", "   ", "I have a dog."])
    assert [translation.text for translation in found[:2]] == ["", ""]
    assert found[2].text and shipped.translate([]) == []


def test_one_string_in_place_of_a_list_is_refused(shipped):
    with pytest.raises(TypeError, match=r"\[sentence\]"):
        shipped.translate("I have a dog.")


def test_a_sentence_of_10_000_words_is_refused_by_its_number(shipped):
    with pytest.raises(ValueError, match=r"sentence 2 has .* split it"):
        shipped.translate(["I.", "dog " * 10_000])


def test_characters_that_were_never_seen_are_no_error(shipped):
    for text in ("日本", "🙂🙂", "a\u0301", "\x07", "½ ﬁ …"):
        assert isinstance(shipped.translate([text])[0].text, str)


def test_no_end_mark_by_the_limit_is_marked_and_the_limit_is_the_input_and_extra(
    shipped,
):
    for beam in (1, 4):
        [found] = shipped.translate([SENTENCES[2]], beam=beam, extra=-9)
        words = len(found.source_tokens) - 1
        assert not found.finished
        assert len(found.tokens) == words - 9


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"holds no model .* train --out"):
        translate.load(tmp_path)
