"""The researcher's admin, one module per subject; importing them registers their pages."""

from annotation.admin import batch, benchmark, channel, comments, example, job, study, work

__all__ = ["batch", "benchmark", "channel", "comments", "example", "job", "study", "work"]
