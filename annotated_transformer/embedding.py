"""Token embeddings, and the output matrix that they share.   (Section 3.4)"""

import math

from torch import Tensor, nn


class Embedding(nn.Module):
    """Rows of one matrix: numbers to vectors on the way in, vectors to logits out.

    Entries start as N(0, 1/d_model). Times √d_model a word then has entries of about
    1, as large as a position's; without it, as a column of the output matrix, the
    first logits are of about 1 and the first loss is about ln N.   (Section 3.4)

    Args:
        tied: False gives the logits a matrix of their own.
    """

    def __init__(self, vocabulary: int, d_model: int, tied: bool = True) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Embedding(vocabulary, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)
        self.output = nn.Linear(d_model, vocabulary, bias=False)
        if tied:
            self.output.weight = self.table.weight
        else:
            nn.init.normal_(self.output.weight, std=d_model**-0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        """Vectors, B S D, of numbers, B S: row times √d_model."""
        return self.table(tokens) * self.scale

    def logits(self, states: Tensor) -> Tensor:
        """Scores of every piece, ... N, for states, ... D. Not scaled."""
        return self.output(states)
