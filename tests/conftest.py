"""What tests of several files need."""

import os
from pathlib import Path

import pytest

from annotated_transformer import corpus


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The cache, complete: if it isn't, skip, or fail where REQUIRE_CORPORA=1."""
    missing = [
        f"{entry.name}/{file}" for entry in corpus.listing() for file in entry.missing
    ]
    if missing:
        reason = f"{corpus.cache_folder()} lacks {', '.join(missing)}"
        if os.environ.get("REQUIRE_CORPORA") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return corpus.cache_folder()
