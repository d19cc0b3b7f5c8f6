"""What tests of several files need."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from annotated_transformer import download
from annotated_transformer.batching import Batch

# Twice the same examples, so that a failure comes again; no limit on a busy machine.
settings.register_profile("tests", derandomize=True, deadline=None, max_examples=30)
settings.load_profile("tests")


@pytest.fixture
def batch() -> Batch:
    """Three sentences of unequal length, of numbers below 800."""
    source = torch.tensor([[5, 6, 7, 8, 2], [9, 10, 2, 0, 0], [11, 12, 13, 2, 0]])
    target = torch.tensor(
        [[1, 20, 21, 2, 0, 0], [1, 22, 2, 0, 0, 0], [1, 23, 24, 25, 26, 2]]
    )
    return Batch(source, target)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The cache, complete: if it isn't, skip, or fail where REQUIRE_CORPORA=1."""
    missing = [
        f"{entry.name}/{file}" for entry in download.listing() for file in entry.missing
    ]
    if missing:
        reason = f"{download.cache_folder()} lacks {', '.join(missing)}"
        if os.environ.get("REQUIRE_CORPORA") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return download.cache_folder()
