"""Break the package in ten ways, one at a time, and see that the tests notice.

Each mutant is a copy of the package and of the tests in a folder of its own, with one
line changed. Run it by hand to see which test catches what: python tests/mutants.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Mutant:
    """One fault: the text that it replaces, and the test file that has to see it."""

    name: str
    file: str
    before: str
    after: str
    tests: str


MUTANTS = [
    Mutant(
        "scale missing", "attention", " / math.sqrt(query.size(-1))", "", "attention"
    ),
    Mutant(
        "mask inverted", "attention", "blocked = ~torch", "blocked = torch", "attention"
    ),
    Mutant(
        "pad attended",
        "attention",
        "(tokens != pad)",
        "(tokens == tokens)",
        "attention",
    ),
    Mutant(
        "positions off by one",
        "positions",
        "torch.arange(start, start + length,",
        "torch.arange(start + 1, start + length + 1,",
        "positions",
    ),
    Mutant(
        "norm order",
        "layers",
        "return self.norm(states + self.dropout(sublayer(states)))",
        "return states + self.dropout(sublayer(self.norm(states)))",
        "layers",
    ),
    Mutant("smoothing mass", "loss", "(1 - smoothing) * right", "1.0 * right", "loss"),
    Mutant("rate exponent", "schedule", "warmup**-1.5", "warmup**-1.4", "schedule"),
    Mutant(
        "beam stops early",
        "search",
        "return reachable > self.ended[self.best - 1].score",
        "return False",
        "search",
    ),
    Mutant(
        "cache stale",
        "multi_head",
        "self.key, self.value = self.key[rows], self.value[rows]",
        "pass",
        "multi_head",
    ),
    Mutant(
        "tied matrix untied",
        "embedding",
        "self.output.weight = self.table.weight",
        "self.output.weight = nn.Parameter(self.table.weight.detach().clone())",
        "embedding",
    ),
]


def caught(mutant: Mutant) -> str | None:
    """The name of the first test that fails on a mutant; None if all pass.

    Raises:
        ValueError: the text to replace does not stand exactly once in its file.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in ("annotated_transformer", "tests"):
            ignored = shutil.ignore_patterns("__pycache__", "weights")
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=ignored)
        path = Path(folder) / f"annotated_transformer/{mutant.file}.py"
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.before) != 1:
            raise ValueError(
                f"mutant {mutant.name!r}: {mutant.before!r} stands "
                f"{text.count(mutant.before)} times in {path.name}, and must once"
            )
        path.write_text(text.replace(mutant.before, mutant.after), encoding="utf-8")
        test = f"tests/test_{mutant.tests}.py"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            test,
        ]
        environment = {**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, encoding="utf-8"
        )
    failed = [line for line in done.stdout.split("\n") if line.startswith("FAILED")]
    return failed[0] if failed else None


if __name__ == "__main__":
    for one in MUTANTS:
        print(f"{one.name:22} {caught(one) or 'NOT CAUGHT'}", flush=True)
