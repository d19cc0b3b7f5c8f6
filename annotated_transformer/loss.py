"""Label smoothing, and perplexity per token.   (Sections 5.4 and 6.1)"""

import math

from torch import Tensor

from annotated_transformer.tokenizer import PAD


def label_smoothed_loss(
    logits: Tensor, targets: Tensor, smoothing: float = 0.1, pad: int = PAD
) -> tuple[Tensor, int]:
    """Σ over tokens of -Σ_k q(k) ln p(k), with q = (1 - ε) at the target + ε/N at all.

    The mass ε is spread over all N classes, the target and the padding among them, as
    the work that the paper cites defines it; the authors' code spreads it over the
    N - 1 others. With ln p(k) = z_k - ln Σ exp z the sum needs no matrix of
    probabilities: it is ln Σ exp z - (1 - ε) z_target - ε mean(z).

    Args:
        logits: ... N, of any scale.
        targets: ..., numbers of the right classes; `pad` counts for nothing.
        smoothing: ε_ls; with 0 this is the negative log-likelihood.
    Returns:
        The sum, in nats, and the number of tokens it is over: to be divided by the
        tokens of the whole step, whatever parts it was computed in.   (Section 5.4)
    Raises:
        ValueError: the shapes do not fit.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"logits {tuple(logits.shape)} need targets {tuple(logits.shape[:-1])}, "
            f"not {tuple(targets.shape)}: one class for each row of logits"
        )
    real = targets != pad
    logits = logits.float()  # ... N
    right = logits.gather(-1, targets.where(real, 0).unsqueeze(-1)).squeeze(-1)
    loss = logits.logsumexp(-1) - (1 - smoothing) * right - smoothing * logits.mean(-1)
    return loss[real].sum(), int(real.sum())


def perplexity(total: float, tokens: int) -> float:
    """exp of the mean negative log-likelihood, unsmoothed, per piece.   (Table 3)

    Args:
        total: the sum over tokens in nats, with a smoothing of 0: the smoothed loss
            has a floor above 0, and its exponential is no perplexity.
    """
    return math.exp(total / tokens)
