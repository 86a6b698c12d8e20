"""The channels that every database begins with. A researcher may change or add to them."""

from annotation.models.texts import described_beside

READY_MADE_CHANNELS = [
    {"slug": slug, **channel} for slug, channel in described_beside(__file__).items()
]
