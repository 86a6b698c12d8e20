"""The researcher's admin, one module per subject; importing them registers their pages."""

from annotation.admin import assignment, benchmark, channel, job, study

__all__ = ["assignment", "benchmark", "channel", "job", "study"]
