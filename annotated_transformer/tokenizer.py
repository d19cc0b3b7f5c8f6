"""Text to pieces and back: one vocabulary for both languages.   (Section 5.1)"""

import hashlib
import io
import re
from collections.abc import Iterable
from pathlib import Path

import sentencepiece

# The one place where these numbers stand. All four differ: a model whose padding is
# also its end mark never learns to stop, since the loss leaves padding out.
PAD, BOS, EOS, UNK = 0, 1, 2, 3


class Tokenizer:
    """Byte-pair pieces of sentencepiece, joint for source and target.   (Section 5.1)

    `decode(encode(text))` is the text as NFKC writes it, with single spaces: "…" comes
    back as "...", and "ﬁnd" as "find". Marks typed in a text, such as "</s>", are text.
    """

    def __init__(self, model: bytes) -> None:
        """Take a trained sentencepiece model, as `train` makes it.

        Raises:
            ValueError: the bytes are no such model, or its marks have other numbers.
        """
        self.model = model
        self.processor = sentencepiece.SentencePieceProcessor()
        try:
            self.processor.LoadFromSerializedProto(model)
        except RuntimeError as error:
            raise ValueError(
                f"not a sentencepiece model ({len(model):,} bytes): {error}"
            ) from None
        marks = [self.processor.piece_to_id(mark) for mark in ("<pad>", "<s>", "</s>")]
        if marks != [PAD, BOS, EOS] or self.processor.unk_id() != UNK:
            raise ValueError(
                f"the model numbers <pad>, <s>, </s> as {marks}, and must as "
                f"{[PAD, BOS, EOS]}: train it with tokenizer.train"
            )

    @property
    def vocabulary(self) -> int:
        """Number of pieces, marks and bytes included."""
        return self.processor.get_piece_size()

    @property
    def checksum(self) -> str:
        """SHA-256 of the model: two tokenizers with one checksum agree on all text."""
        return hashlib.sha256(self.model).hexdigest()

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's pieces, without the marks of begin and end."""
        return self.processor.encode(text)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of pieces; marks are left out."""
        return self.processor.decode([i for i in ids if i not in (PAD, BOS, EOS)])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each piece as it is drawn in a figure: "▁" stands for a space before it."""
        return [self.processor.id_to_piece(int(i)) for i in ids]

    def save(self, path: Path | str) -> None:
        Path(path).write_bytes(self.model)

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read a file that `save` wrote; ValueError names a file that is no model."""
        try:
            return cls(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def train(lines: Iterable[str], vocabulary: int = 8000) -> Tokenizer:
    """Learn byte-pair pieces from the training text of both languages.   (Section 5.1)

    Args:
        lines: training sentences only: pieces that development or test text shaped
            would know words that nobody has seen.
        vocabulary: number of pieces, with 4 marks and 256 bytes among them.
    Raises:
        ValueError: the text has too few different words for so many pieces.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocabulary,
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNK,
            pad_piece="<pad>",
            byte_fallback=True,
            normalization_rule_name="nmt_nfkc",
            character_coverage=0.9998,
            num_threads=1,  # the same pieces on every machine
            minloglevel=2,
        )
    except RuntimeError as error:
        # Its own message ends in "60 vs 289. ..." or in "... a value <= 484."
        if least := re.search(r"\d+ vs (\d+)", str(error)):
            advice = f"choose {least[1]} or more, for each character and byte is one"
        elif most := re.search(r"<= (\d+)", str(error)):
            advice = f"choose {most[1]} or fewer, for it yields no more"
        else:
            advice = f"sentencepiece says: {str(error).splitlines()[-1]}"
        raise ValueError(
            f"vocabulary={vocabulary} pieces do not fit this text: {advice}"
        ) from None
    return Tokenizer(model.getvalue())
