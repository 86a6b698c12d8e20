"""Runs, published figures and leaderboards in the admin; importing a module registers its pages."""

from scoring.admin import board, run

__all__ = ["board", "run"]
