"""The tables, each imported from here; what belongs to them lies in their modules."""

from scoring.models.board import BoardDecision, Leaderboard, References, ReportedKind, ReportedScore
from scoring.models.claims import FrozenClaims, FrozenRun
from scoring.models.comparison import Comparison, ImportedStudy, Part, ScoreVector
from scoring.models.run import (
    FEW,
    FULLY_SUPERVISED,
    FinishedRun,
    Method,
    Prediction,
    ProtocolTag,
    Reply,
    Run,
    RunState,
    Spending,
    Standing,
    method_label,
    shots_label,
    shots_order,
    shots_text,
)
