from scoring.models.board import BoardDecision
from scoring.models.comparison import Comparison, Leaderboard, Part, ScoreVector
from scoring.models.run import (
    FULLY_SUPERVISED,
    Method,
    Prediction,
    ProtocolTag,
    References,
    ReportedKind,
    ReportedScore,
    Run,
    RunState,
    shots_label,
)

__all__ = [
    "FULLY_SUPERVISED",
    "BoardDecision",
    "Comparison",
    "Leaderboard",
    "Method",
    "Part",
    "Prediction",
    "ProtocolTag",
    "References",
    "ReportedKind",
    "ReportedScore",
    "Run",
    "RunState",
    "ScoreVector",
    "shots_label",
]
