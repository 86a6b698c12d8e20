from scoring.models.board import BoardDecision
from scoring.models.comparison import Comparison, Leaderboard, Part, ScoreVector
from scoring.models.run import (
    FEW,
    FULLY_SUPERVISED,
    Method,
    Prediction,
    ProtocolTag,
    References,
    ReportedKind,
    ReportedScore,
    Run,
    RunState,
    Standing,
    shots_label,
    shots_order,
)

__all__ = [
    "FEW",
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
    "Standing",
    "shots_label",
    "shots_order",
]
