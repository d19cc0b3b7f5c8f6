"""The Transformer of "Attention Is All You Need", to be read, run and measured."""

__version__ = "0.1.0"
