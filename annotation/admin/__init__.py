"""The researcher's admin, one module per subject; importing them registers their pages."""

from annotation.admin import assignment, batch, benchmark, channel, job, study

__all__ = ["assignment", "batch", "benchmark", "channel", "job", "study"]
