"""`text@1`: free text. Equal after normalising, or undetermined: a paraphrase is not an error.

Source: docs/spec/scoring.md section 2.
"""

from __future__ import annotations

from slaverify.evalset import TextReference
from slaverify.scoring.normalisers import normal_pair, normaliser
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding
from slaverify.scoring.rules.task import Task

NAME = "text@1"


def judge(task: Task, reference: TextReference) -> Finding:
    """Return whether the answer equals the value or an alias; it can prove no error."""
    normalise = normaliser(reference.normaliser or task.settings.normaliser)
    for text in (reference.value, *reference.aliases):
        comparable = normal_pair(normalise, text, task.settings.policies.fold_accents)
        if comparable(task.passage.text) == comparable(text):
            return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    return Finding(Correctness.UNDETERMINED, Reason.PARAPHRASE, None)
