"""Calibration: what people say of what the judge said, and whether the judge may be used. Pure.

Order: units of a run → draw → blind sheets → labels → record with figures and gate. The decision reads the record.
"""

from slaverify.judging.calibration.asked import UNSUPPORTED, columns_for
from slaverify.judging.calibration.columns import HEADINGS, instructions, layout
from slaverify.judging.calibration.development import (
    Known,
    probes_known,
    read_development,
    read_questions,
    refuse_shared,
)
from slaverify.judging.calibration.drafting import Tried, trial_calls, trial_json, tried
from slaverify.judging.calibration.external import EXTERNAL, confusion_of, external_record
from slaverify.judging.calibration.figures import Seen
from slaverify.judging.calibration.gate import labels_that_reach
from slaverify.judging.calibration.labels import (
    ADJUDICATOR,
    FIRST,
    SECOND,
    Book,
    Label,
    complete,
    differs,
    final_of,
    label_json,
    read_label,
)
from slaverify.judging.calibration.reading import MAX_BYTES, Filled, read_sheet
from slaverify.judging.calibration.record import (
    RECORD_TYPE,
    Labelled,
    Sheet,
    calibration_record,
    final_label,
    plan_of,
    read_back,
    seen_of,
)
from slaverify.judging.calibration.rulings import as_people_see, ruled_records
from slaverify.judging.calibration.selection import WHOLE_SECOND_READ, Plan, Selection, label_seed, legible, select
from slaverify.judging.calibration.sheet import BlindSheet, Shown, blind_sheet, sheet_csv, sheet_xlsx
from slaverify.judging.calibration.sheet_page import sheet_html
from slaverify.judging.calibration.units import ANSWER, Kind, Unit, UnitKey, subjects_of, units_of

__all__ = [
    "ADJUDICATOR",
    "ANSWER",
    "EXTERNAL",
    "FIRST",
    "HEADINGS",
    "MAX_BYTES",
    "RECORD_TYPE",
    "SECOND",
    "UNSUPPORTED",
    "WHOLE_SECOND_READ",
    "BlindSheet",
    "Book",
    "Filled",
    "Kind",
    "Known",
    "Label",
    "Labelled",
    "Plan",
    "Seen",
    "Selection",
    "Sheet",
    "Shown",
    "Tried",
    "Unit",
    "UnitKey",
    "as_people_see",
    "blind_sheet",
    "calibration_record",
    "columns_for",
    "complete",
    "confusion_of",
    "differs",
    "external_record",
    "final_label",
    "final_of",
    "instructions",
    "label_json",
    "label_seed",
    "labels_that_reach",
    "layout",
    "legible",
    "plan_of",
    "probes_known",
    "read_back",
    "read_development",
    "read_label",
    "read_questions",
    "read_sheet",
    "refuse_shared",
    "ruled_records",
    "seen_of",
    "select",
    "sheet_csv",
    "sheet_html",
    "sheet_xlsx",
    "subjects_of",
    "trial_calls",
    "trial_json",
    "tried",
    "units_of",
]
