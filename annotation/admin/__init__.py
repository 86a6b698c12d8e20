"""The researcher's admin, one module per subject; importing them registers their pages."""

from annotation.admin import annotator, assignment, batch, benchmark, channel, job, study

__all__ = ["annotator", "assignment", "batch", "benchmark", "channel", "job", "study"]
