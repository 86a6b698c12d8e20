from scoring.models.board import BoardDecision
from scoring.models.bundle import ImportedStudy
from scoring.models.comparison import Comparison, Leaderboard, Part, ScoreVector
from scoring.models.reply import Reply
from scoring.models.reported import References, ReportedKind, ReportedScore
from scoring.models.run import (
    FEW,
    FULLY_SUPERVISED,
    FinishedRun,
    Method,
    Prediction,
    ProtocolTag,
    Run,
    RunState,
    Standing,
    method_label,
    shots_label,
    shots_order,
)

__all__ = [
    "FEW",
    "FULLY_SUPERVISED",
    "BoardDecision",
    "Comparison",
    "FinishedRun",
    "ImportedStudy",
    "Leaderboard",
    "Method",
    "Part",
    "Prediction",
    "ProtocolTag",
    "References",
    "Reply",
    "ReportedKind",
    "ReportedScore",
    "Run",
    "RunState",
    "ScoreVector",
    "Standing",
    "method_label",
    "shots_label",
    "shots_order",
]
