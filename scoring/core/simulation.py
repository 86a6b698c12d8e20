"""Right-or-wrong scores of simulated annotators with stated variance components.

A latent normal model: a score is 1 where threshold + annotator + item + noise > 0. Its mean and its
components on the scale of the scores are exact (tetrachoric probabilities by Owen's T), so that the
truth that an interval ought to cover is known.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from scoring.core.variance import Floats


@dataclass(frozen=True)
class ScoreModel:
    """Shares of latent variance that are an annotator's and an item's own; the rest is noise."""

    mean: float
    annotator_share: float
    item_share: float

    @classmethod
    def from_components(
        cls, *, annotator_var: float, item_var: float, residual_var: float
    ) -> "ScoreModel":
        """The model of 0/1 scores with these components, on the upper side of one half.

        The mean p follows from p(1−p), the sum of the three; ValueError above 1/4, the most
        that scores in [0, 1] can vary.
        """
        total = annotator_var + item_var + residual_var
        if not 0 < total <= 0.25 + 1e-9:
            raise ValueError(
                f"Annotator, item and residual variance add up to {total:g}; "
                "scores in [0, 1] vary by more than 0 and at most 0.25."
            )
        mean = (1 + np.sqrt(max(0.0, 1 - 4 * total))) / 2
        shares = [_latent_share(mean, part) for part in (annotator_var, item_var)]
        # Close to 1 together only if the residual is next to nothing.
        scale = max(1.0, sum(shares) / 0.999)
        return cls(float(mean), shares[0] / scale, shares[1] / scale)

    def draw(
        self, n: int, m: int, *, replicates: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Scores of replicates × n × m, each replicate with new annotators and new items."""
        people = rng.standard_normal((replicates, n, 1), np.float32)
        items = rng.standard_normal((replicates, 1, m), np.float32)
        return self.draw_for(people, items, rng=rng)

    def draw_for(
        self, people: NDArray[np.float32], items: NDArray[np.float32], *, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Scores of given annotators and items, as standard normal effects that broadcast."""
        noise = np.float32(1 - self.annotator_share - self.item_share)
        latent = people * np.float32(np.sqrt(self.annotator_share))
        latent = latent + items * np.float32(np.sqrt(self.item_share))
        drawn = rng.standard_normal(latent.shape, np.float32)
        drawn *= np.sqrt(noise)
        drawn += latent
        above: NDArray[np.bool_] = drawn > -special.ndtri(self.mean)
        return above.astype(np.float32)

    def item_means(self, items: Floats) -> Floats:
        """What a new annotator scores on average on items of these standard normal effects."""
        threshold = special.ndtri(self.mean) + items * np.sqrt(self.item_share)
        return np.asarray(special.ndtr(threshold / np.sqrt(1 - self.item_share)))


def _latent_share(mean: float, variance: float) -> float:
    """The latent correlation that gives two 0/1 scores of this mean this covariance."""
    if variance <= 0:
        return 0.0
    threshold = special.ndtri(mean)

    def excess(share: float) -> float:
        both = mean - 2 * special.owens_t(threshold, np.sqrt((1 - share) / (1 + share)))
        return float(both - mean**2 - variance)

    # The extreme is all variance shared; rounding may leave it a hair short.
    return 1.0 if excess(1.0) <= 0 else float(scipy.optimize.brentq(excess, 0.0, 1.0))
