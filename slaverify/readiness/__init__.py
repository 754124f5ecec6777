"""Room readiness: can this contract decide anything? Pure: values in, findings and curves out."""

from slaverify.readiness.advice import advice, amendment
from slaverify.readiness.chance import Chance, chance_of_pass
from slaverify.readiness.examine import Advice, Level, Readiness, Whole, examine, refuse_undecidable
from slaverify.readiness.outlook import CLUSTER_SIZE, MetricOutlook, Needed, Point, outlook
from slaverify.readiness.plan import Burn, WorkPlan, work_plan

__all__ = [
    "CLUSTER_SIZE",
    "Advice",
    "Burn",
    "Chance",
    "Level",
    "MetricOutlook",
    "Needed",
    "Point",
    "Readiness",
    "Whole",
    "WorkPlan",
    "advice",
    "amendment",
    "chance_of_pass",
    "examine",
    "outlook",
    "refuse_undecidable",
    "work_plan",
]
