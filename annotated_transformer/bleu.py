"""How near translations come to references: sacreBLEU, and the paper's own way."""

import functools
import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacremoses import MosesPunctNormalizer, MosesTokenizer

References = Sequence[Sequence[str]]  # references[i]: all of sentence i, one or more


@dataclass(frozen=True)
class Scores:
    """What one system's translations of a set score.

    A BLEU is comparable to others of the same signature, on the same set.
    """

    bleu: float  # sacreBLEU, 13a, cased: 0 to 100
    signature: str
    paper_bleu: float  # tokenised, hyphens split: 0 to 100
    chrf: float  # chrF2: 0 to 100
    chrf_signature: str
    exact: float  # share of translations that equal a reference, as `plain`: 0 to 1
    sentences: int


def score(
    hypotheses: Sequence[str], references: References, language: str = "de"
) -> Scores:
    """Every score of a system's translations; `bleu` is the one to report.

    Args:
        hypotheses: plain text as a reader would see it, not tokens.
        references: references[i] are all of sentence i, untouched; their number may
            differ from one sentence to the next.
        language: of both; the paper's way needs its tokenizer.
    Raises:
        ValueError: the numbers of sentences differ, a sentence has no reference, or
            references are given as strings or stream by stream.
    """
    check(hypotheses, references)
    bleu, chrf = BLEU(), CHRF()
    bleu_score = bleu.corpus_score(hypotheses, streams(references)).score
    chrf_score = chrf.corpus_score(hypotheses, streams(references)).score
    pairs = zip(hypotheses, references, strict=True)
    same = sum(plain(text) in map(plain, accepted) for text, accepted in pairs)
    return Scores(
        bleu=bleu_score,
        signature=str(bleu.get_signature()),
        paper_bleu=paper_bleu(hypotheses, references, language),
        chrf=chrf_score,
        chrf_signature=str(chrf.get_signature()),
        exact=same / len(hypotheses),
        sentences=len(hypotheses),
    )


def plain(text: str) -> str:
    """Text as a tokenizer gives it back: "…" is "...", and spaces are single."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def check(hypotheses: Sequence[str], references: References) -> None:
    """Refuse what sacreBLEU would answer with a wrong number.

    Raises:
        ValueError: as in `score`.
    """
    if not hypotheses or not all(isinstance(text, str) for text in hypotheses):
        raise ValueError(
            "translations must be strings, one a sentence and at least one: give them "
            "first, and the references second"
        )
    if any(isinstance(accepted, str) for accepted in references):
        raise ValueError(
            "references are strings, and must be a list of them for each sentence: "
            "[[reference] for reference in references]"
        )
    if len(references) != len(hypotheses):
        remedy = "give one list of references for each translation"
        if references and all(len(row) == len(hypotheses) for row in references):
            remedy = "they look like streams, so turn them with list(zip(*references))"
        raise ValueError(
            f"{len(hypotheses):,} translations, but references of {len(references):,} "
            f"sentences: {remedy}"
        )
    for number, accepted in enumerate(references, 1):
        if not accepted:
            raise ValueError(
                f"sentence {number:,} has no reference: leave it out on both sides"
            )


def streams(references: References) -> list[list[Any]]:
    """References as sacreBLEU takes them: the first of each sentence, the second, ...

    Where a sentence has fewer than others its place holds None, which sacreBLEU leaves
    out. An empty string would count as a reference of length 0, and so take the
    brevity penalty away from short translations.
    """
    return [list(stream) for stream in itertools.zip_longest(*references)]


def paper_bleu(
    hypotheses: Sequence[str], references: References, language: str = "de"
) -> float:
    """BLEU over the tokens of `paper_tokens`, cased, unsmoothed.   (Section 6.1)

    Each hyphen of a compound counts as a word, and one that is easily right, so where
    compounds are many it lies above sacreBLEU on the same translations.

    Raises:
        ValueError: as in `score`.
    """
    check(hypotheses, references)
    hypotheses = [paper_tokens(text, language) for text in hypotheses]
    references = [
        [paper_tokens(text, language) for text in accepted] for accepted in references
    ]
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    return metric.corpus_score(hypotheses, streams(references)).score


def paper_tokens(text: str, language: str = "de") -> str:
    """Plain punctuation, then Moses tokens, then hyphens split from their words.

    "rich-text" becomes "rich ##AT##-##AT## text". In the paper quotes such as
    „ and « were plain in the references alone; here they are made plain on both sides,
    or else a translation equal to its reference would not score 100.
    """
    punctuation, tokenizer = moses(language)
    text = punctuation.replace_unicode_punct(text)
    text = re.sub("[„«»]", '"', re.sub("[‚‘‹›]", "'", text))
    tokens = tokenizer.tokenize(text, return_str=True, escape=False)
    return re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", tokens)


@functools.cache
def moses(language: str) -> tuple[MosesPunctNormalizer, MosesTokenizer]:
    """Moses' rules for a language, read once."""
    return MosesPunctNormalizer(language), MosesTokenizer(language)


def definitions(
    hypotheses: Sequence[str], references: References, language: str = "de"
) -> dict[str, float]:
    """The same translations under five definitions of BLEU.

    Raises:
        ValueError: as in `score`.
    """
    check(hypotheses, references)
    scores = {}
    for tokens in ("13a", "intl"):
        for lowercase in (False, True):
            name = f"sacreBLEU {tokens}{', lower case' * lowercase}"
            metric = BLEU(tokenize=tokens, lowercase=lowercase)
            scores[name] = metric.corpus_score(hypotheses, streams(references)).score
    return {**scores, "the paper's way": paper_bleu(hypotheses, references, language)}


def interval(
    hypotheses: Sequence[str], references: References, samples: int = 1000
) -> float:
    """Half the width of the 95 % interval of `Scores.bleu`, by drawing sentences anew.

    The same sentences are drawn in each call (sacreBLEU's seed).

    Args:
        samples: sets of as many sentences, drawn with replacement.
    Raises:
        ValueError: as in `score`.
    """
    check(hypotheses, references)
    result = BLEU().corpus_score(hypotheses, streams(references), n_bootstrap=samples)
    return result._ci
