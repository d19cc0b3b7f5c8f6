"""Ten deliberate faults: each is caught by a test."""

import pytest

from .mutants import MUTANTS, Mutant, caught


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_is_caught(mutant):
    assert caught(mutant), f"no test in test_{mutant.tests}.py fails on {mutant.name!r}"


def test_a_change_that_changes_nothing_is_not_caught():
    same = Mutant("none", "schedule", "if step < 1:", "if step <= 0:", "schedule")
    assert caught(same) is None


def test_a_mutant_whose_text_is_gone_is_an_error():
    with pytest.raises(ValueError, match="0 times"):
        caught(Mutant("gone", "loss", "no such text", "", "loss"))
