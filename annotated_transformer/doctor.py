"""What is installed, what is at hand, and what would fail."""

import importlib.metadata
import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch

from annotated_transformer import __version__, download, translate

WEIGHT = 200 * 2**20  # bytes that corpora and a small run need


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is what to do where it is not good."""

    good: bool
    text: str
    remedy: str = ""


def packages() -> list[Finding]:
    """Each package that this one requires, and whether it is here and new enough."""
    findings = []
    for requirement in importlib.metadata.requires("annotated-transformer") or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[^\w.-]", requirement)[0]
        try:
            version = importlib.metadata.version(name)
            findings.append(Finding(True, f"{name} {version}"))
        except importlib.metadata.PackageNotFoundError:
            remedy = f"pip install '{requirement}'"
            findings.append(Finding(False, f"{name} is missing", remedy))
    return findings


def device() -> Finding:
    """Where training would run, and whether bfloat16 is fast there."""
    if torch.cuda.is_available():
        return Finding(True, f"device: {torch.cuda.get_device_name()}: --device cuda")
    capability = torch.backends.cpu.get_cpu_capability()
    fast = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    hint = "has bfloat16 units: --bf16 pays" if fast else "has no bfloat16 units"
    threads = torch.get_num_threads()
    return Finding(True, f"device: CPU, {threads} threads, {capability}, {hint}")


def cache() -> list[Finding]:
    """Which corpora are here, and whether others could be written."""
    folder = download.cache_folder()
    there = next(p for p in [folder, *folder.absolute().parents] if p.exists())
    findings = []
    for entry in download.listing():
        if entry.missing:
            text = f"corpus {entry.name}: {len(entry.missing)} files not here"
            remedy = f"annotated-transformer corpus fetch {entry.name}"
            # Not a fault: nothing but training on it, or scoring with it, needs it.
            findings.append(Finding(True, f"{text}; to get it: {remedy}"))
        else:
            findings.append(Finding(True, f"corpus {entry.name}: here"))
    if any(entry.missing for entry in download.listing()):
        writable, free = os.access(there, os.W_OK), shutil.disk_usage(there).free
        good = writable and free > WEIGHT
        state = f"{free // 2**20:,} MiB free" if writable else "can't be written"
        remedy = "set ANNOTATED_TRANSFORMER_DATA to a folder with room"
        findings.append(Finding(good, f"cache {folder}: {state}", remedy))
    return findings


def shipped() -> Finding:
    """Whether the model that comes with the package loads and translates."""
    try:
        [translation] = translate.load("shipped").translate(["Good morning."])
    except Exception as error:  # whatever it is, the report goes on
        return Finding(False, f"shipped model: {error}", "install the package again")
    return Finding(True, f"shipped model: 'Good morning.' is {translation.text!r}")


def examine() -> list[Finding]:
    """All findings, in the order of the report."""
    where = Path(__file__).parent
    python = f"Python {platform.python_version()} on {platform.platform()}"
    own = Finding(True, f"annotated-transformer {__version__} in {where}")
    return [Finding(True, python), own, *packages(), device(), *cache(), shipped()]
