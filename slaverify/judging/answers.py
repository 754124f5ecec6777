"""Which answers go to the judge, and what it is asked of each: only what no rule settled, where the contract says so.

The class of an answer comes from code alone: where it is in doubt, or there is nothing to find, no judge is asked.

Source: docs/spec/judging.md sections 2 and 7; docs/spec/scoring.md section 6 (step 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slaverify.canonical import JsonValue, jcs
from slaverify.contract import Contract
from slaverify.contract.model.judge import Criterion
from slaverify.evalset import Item
from slaverify.judging.masking import TO_THE_JUDGE, cut, mask
from slaverify.judging.prompt import Case, Instrument
from slaverify.judging.sentences import split_sentences
from slaverify.scoring import AnswerClass, Correctness, Grounding, ScoreRecord

CORRECTNESS, GROUNDING, ELIGIBILITY, SENTENCES, SCORE = (
    "correctness",
    "grounding",
    "eligibility",
    "sentences",
    "score",
)
MOST_CITED_TEXTS = 5
"""Cited texts that a judge sees: an answer that cites everything must not outgrow the prompt (convention)."""
_OF_FACTS = frozenset({ELIGIBILITY, SENTENCES})
_SETTLED = frozenset({Correctness.CORRECT, Correctness.PARTIAL, Correctness.INCORRECT})


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """One answer of the run as code left it: its record, its item, the raw and the clean text (null: none came).

    `cited`: ids of its citations that exist; `cited_texts`: their official texts, as far as the run's items hold them.
    """

    record: ScoreRecord
    item: Item
    raw_text: str | None
    clean_text: str | None
    cited: tuple[str, ...] = ()
    cited_texts: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int, str]:
        """The key of its score record."""
        return self.record.item_id, self.record.repetition, self.record.side

    @property
    def flagged(self) -> bool:
        """Whether it holds what may speak to a judge."""
        return bool(TO_THE_JUDGE & set(self.record.flags))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked of one answer in one call per member and vote: fields of the rubric, or one criterion."""

    answer: GivenAnswer
    case: Case


def with_cited_texts(answers: Sequence[GivenAnswer]) -> list[GivenAnswer]:
    """Return the answers with the official texts of what they cite: those that the items of the run carry.

    An item's text is that of the one article which it expects.
    """
    texts: dict[str, str] = {}
    for answer in answers:
        expected = answer.item.expected_citations
        if len(expected) == 1 and answer.item.official_text is not None:
            texts.setdefault(expected[0].id, answer.item.official_text)
    found = []
    for answer in answers:
        known = (text for name in answer.cited if (text := _text_of(name, texts)) is not None)
        found.append(replace(answer, cited_texts=tuple(dict.fromkeys(known))[:MOST_CITED_TEXTS]))
    return found


def _text_of(name: str, texts: Mapping[str, str]) -> str | None:
    # a citation may be more precise than the article whose text the item carries
    return next((texts[known] for known in sorted(texts) if name == known or name.startswith(f"{known}:")), None)


def asks_of(contract: Contract, instrument: Instrument, answer: GivenAnswer) -> tuple[Ask, ...]:
    """Return what the judge is asked of an answer; none where code settled it or the contract does not allow it."""
    stage, record = contract.method.judge_stage, answer.record
    if record.stratum not in stage.strata or not answer.clean_text or record.answer_class is None:
        return ()
    if instrument.rubric.per_criterion:
        asked = stage.ask if "criteria" in stage.ask else ()
        return tuple(_criteria(instrument, answer)) if asked else ()
    if record.answer_class is not AnswerClass.ANSWER or answer.item.reference.kind == "none":
        return ()
    # a verdict of code stands (a phantom citation, a fabrication), whatever half of it is open; and a body that was cut
    # counts both ways, whatever a judge says of its second try
    if record.verdict is not None or "cut_body" in record.flags:
        return ()
    if "eligibility" in instrument.rubric.asks:
        return tuple(_facts(instrument, answer, stage.ask))
    fields = _open_fields(record, stage.ask)
    return (Ask(answer=answer, case=case_of(instrument, answer, fields)),) if fields else ()


def shadow_of(contract: Contract, instrument: Instrument, answer: GivenAnswer) -> Ask | None:
    """Return what the judge is asked of an answer that code settled, to compare the two; it decides nothing."""
    stage, record = contract.method.judge_stage, answer.record
    settled = record.answer_class is AnswerClass.ANSWER and record.correctness in _SETTLED
    if not settled or record.stratum not in stage.strata or CORRECTNESS not in instrument.rubric.asks:
        return None
    if not answer.clean_text or answer.item.reference.kind == "none" or CORRECTNESS not in stage.ask:
        return None
    grounded = answer.record.grounding not in (Grounding.NOT_APPLICABLE, Grounding.UNDETERMINED)
    fields = (CORRECTNESS, GROUNDING) if grounded and GROUNDING in stage.ask else (CORRECTNESS,)
    return Ask(answer=answer, case=case_of(instrument, answer, fields))


def case_of(
    instrument: Instrument,
    answer: GivenAnswer,
    fields: tuple[str, ...],
    *,
    criterion: Criterion | None = None,
    text: str | None = None,
) -> Case:
    """Return what is judged: the item's texts and the answer's clean copy, or `text` in its place, names masked."""
    item = answer.item
    shown, masked = mask(answer.clean_text or "" if text is None else text, instrument.names)
    reference = _reference(item)
    return Case(
        question=question_of(item),
        # what is compared sentence by sentence is the document, and nothing stands in its place
        official_text=item.official_text or ("" if _OF_FACTS.intersection(fields) else _words(reference)),
        answer=shown,
        asks=fields,
        cited_texts=answer.cited_texts,
        reference=reference if "reference" in instrument.rubric.data else None,
        criterion=criterion,
        sentences=split_sentences(shown) if SENTENCES in fields else (),
        given=_settled_half(answer.record, fields),
        masked=masked,
    )


def with_text(case: Case, text: str, instrument: Instrument) -> Case:
    """Return the same question of another text in the place of the answer."""
    shown, masked = mask(text, instrument.names)
    return replace(case, answer=shown, masked=masked, sentences=split_sentences(shown) if case.sentences else ())


def cut_of(answer: GivenAnswer) -> str:
    """Return the clean copy less what speaks to a judge."""
    return cut(answer.clean_text or "")


def words_of_reference(item: Item) -> str:
    """Return the reference, or the official text where there is none to say, as words in the place of an answer."""
    return _words(_reference(item)) or item.official_text or ""


def _settled_half(record: ScoreRecord, asked: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if asked == (GROUNDING,):
        return ((CORRECTNESS, record.correctness.value),)
    if asked == (CORRECTNESS,) and record.grounding not in (Grounding.NOT_APPLICABLE, Grounding.UNDETERMINED):
        return ((GROUNDING, record.grounding.value),)
    return ()


def _open_fields(record: ScoreRecord, asked: Iterable[str]) -> tuple[str, ...]:
    open_ = []
    if record.correctness is Correctness.UNDETERMINED:
        open_.append(CORRECTNESS)
    if record.grounding is Grounding.UNDETERMINED and record.correctness is not Correctness.INCORRECT:
        open_.append(GROUNDING)
    # What stays open and may not be asked leaves the answer without a verdict: then no call is spent on it.
    return tuple(open_) if open_ and set(open_) <= set(asked) else ()


def _criteria(instrument: Instrument, answer: GivenAnswer) -> Iterator[Ask]:
    # What has a mark already is code's: met, not met, or not applicable to this item.
    settled = dict(answer.record.criteria)
    for criterion in instrument.judge.criteria:
        if criterion.id in settled or criterion.check is not None:
            continue
        yield Ask(answer=answer, case=case_of(instrument, answer, (SCORE,), criterion=criterion))


def _facts(instrument: Instrument, answer: GivenAnswer, asked: Iterable[str]) -> Iterator[Ask]:
    # Where code found the required value the answer is eligible; its sentences no rule can compare with a document.
    settled = answer.record.correctness is Correctness.CORRECT
    if ELIGIBILITY in asked or (settled and GROUNDING in asked):
        for field in (SENTENCES,) if settled else (ELIGIBILITY, SENTENCES):
            yield Ask(answer=answer, case=case_of(instrument, answer, (field,)))


def question_of(item: Item) -> str:
    """Return the question as a judge and people read it: the query, or all messages with their roles."""
    if item.query is not None:
        return item.query
    return "\n".join(f"{message.role}: {message.content}" for message in item.messages)


def _reference(item: Item) -> JsonValue:
    if item.reference.kind in ("none", "trajectory"):
        return None
    tree: dict[str, JsonValue] = item.reference.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return tree


def _words(reference: JsonValue) -> str:
    if not isinstance(reference, dict):
        return ""
    value = reference.get("value")
    return value if isinstance(value, str) else jcs(reference).decode("utf-8")
