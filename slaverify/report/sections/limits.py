"""Section 9: every limitation of this run, as the decision generated it; then the declared ones; then opinions.

The codes and their arguments are those of docs/spec/decision.md; the sentences stand in
`plantillas/limitations.toml`, each code with the validity that it touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures
from slaverify.report.facts import Facts, objects, text, texts
from slaverify.report.sections import leaks
from slaverify.report.sections.opinions import opinions
from slaverify.report.words import (
    Node,
    bullets,
    code,
    day,
    foreign,
    heading,
    listing,
    paragraph,
    real,
    say,
    section,
    share,
)

VALIDITY: Mapping[str, str] = {
    **dict.fromkeys(("L03", "L08", "L10", "L11", "L12", "L18"), "statistical"),
    **dict.fromkeys(
        ("L01", "L05", "L06", "L09", "L13", "L15", "L16", "L17", "L19", "L20", "L22"),
        "internal",
    ),
    **dict.fromkeys(("L02", "L07", "L14"), "external"),
    **dict.fromkeys(("L04", "L27", "L28"), "construct"),
    **dict.fromkeys(("L21", "L23", "L24", "L25", "L26"), "governance"),
}


def limits(facts: Facts) -> Node:
    """Return section 9."""
    items = objects(facts.limitations.get("items"))
    declared = objects(facts.agreed("limitations"))
    blocks: list[JsonValue] = [
        heading("section.limits", id="limits"),
        paragraph("limits.intro", n=len(items)),
        {"kind": "limitations", "id": "limitations", "items": [_item(facts, item) for item in items]},
        heading("limits.declared", 3),
    ]
    if declared:
        sentences = [text(entry, facts.language) for entry in declared if isinstance(entry.get(facts.language), str)]
        blocks.append(bullets([foreign(sentence) for sentence in sentences], id="declared"))
    else:
        blocks.append(paragraph("limits.none_declared", id="declared"))
    blocks += [heading("limits.opinions", 3), *opinions(facts)]
    return section("limits", blocks)


def _item(facts: Facts, item: JsonObject) -> Node:
    name = text(item, "code")
    args = item.get("args")
    held: JsonObject = args if isinstance(args, Mapping) else {}
    write = WRITERS.get(name)
    sentences = list(write(facts, held)) if write else [say("limits.unknown", code=code(name))]
    validity = VALIDITY.get(name, "internal")
    return {"code": name, "validity": say(f"validity.{validity}"), "sentences": list(sentences)}


def _say(key: str, /, **args: JsonValue) -> Node:
    return say(f"limitation.{key}", **args)


def _names(facts: Facts, value: JsonValue) -> Node:
    """Say metrics by their names in the contract, or any other words as they are."""
    names = {metric.id: metric.name for metric in facts.metrics}
    listed = [foreign(names[word]) if word in names else code(word) for word in texts(value)]
    return listing(list(listed), "and") if listed else say("word.none")


def _share(value: JsonValue) -> Node:
    if not isinstance(value, str) or not 0 < Decimal(value) < 1:
        return say("figure.none")
    return share(value, "near")


def _rate(value: JsonValue) -> Node:
    """Say how often a judge was right; where no error was seen, or no hit, that is no 100 % and no 0 %."""
    if isinstance(value, str) and Decimal(value) in (0, 1):
        return say("figure.no_error_seen" if Decimal(value) == 1 else "figure.no_hit_seen")
    return _share(value)


def _real(value: JsonValue, digits: int = 2) -> Node:
    return real(value, digits) if isinstance(value, str) else say("figure.none")


def _points(value: JsonValue) -> Node:
    """Say a distance between shares in percentage points."""
    return real(str(Decimal(value) * 100), 1) if isinstance(value, str) else say("figure.none")


def _count(args: JsonObject, key: str) -> int:
    value = args.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _l01(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield from _l01_agreement(args)
    rows = objects(args.get("without_one"))
    names: list[JsonValue] = [code(str(row.get("name"))) for row in rows if row.get("changed")]
    if names:
        yield _say("L01.hangs_on_one", names=listing(names, "and"))


def _l01_agreement(args: JsonObject) -> Iterator[Node]:
    if args.get("calibrated") is not True:
        yield _say("L01.uncalibrated", n=_count(args, "judged"))
        return
    yield _say(
        "L01.calibrated",
        n=_count(args, "judged"),
        labels=_count(args, "labels"),
        kappa=_real(args.get("kappa")),
        sensitivity=_rate(args.get("sensitivity")),
        specificity=_rate(args.get("specificity")),
        equivalent=_real(args.get("equivalent_labels"), 0),
    )
    apart = args.get("disagreement")
    if args.get("annotators") == 2 and isinstance(apart, str) and Decimal(apart) == 0:
        yield _say("L01.agreed")
    elif args.get("annotators") == 2:
        yield _say("L01.disagreement", disagreement=_share(apart))
    else:
        yield _say("L01.one_annotator")


def _l02(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say(
        "L02.scope",
        purpose=figures.text_or(args.get("purpose"), "absent.agreed"),
        strata=_names(facts, args.get("strata")),
    )
    corpus, date = args.get("corpus"), args.get("as_of")
    if not isinstance(corpus, str):
        yield _say("L02.no_corpus")
    elif not isinstance(date, str):
        yield _say("L02.undated", corpus=foreign(corpus))
    else:
        yield _say("L02.corpus", corpus=foreign(corpus), date=day(date))
    yield _say("L02.wording")


def _l03(facts: Facts, args: JsonObject) -> Iterator[Node]:
    times, sample = _count(args, "repetitions"), args.get("sample")
    if isinstance(sample, Mapping):
        items, repeats = _count(sample, "items"), _count(sample, "repeats")
        yield _say("L03.sampled", items=items, repeats=repeats, icc=_real(sample.get("icc")))
    else:
        yield _say("L03.once") if times <= 1 else _say("L03.repeated", n=times, icc=_real(args.get("icc")))


def _l04(facts: Facts, args: JsonObject) -> Iterator[Node]:
    uncovered = [say(f"uncovered.{word}") for word in texts(args.get("uncovered"))]
    listed = listing(list(uncovered), "and") if uncovered else say("word.none")
    yield _say("L04.uncovered", metrics=_names(facts, args.get("metrics")), uncovered=listed)


def _l05(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L05.phrases", n=_count(args, "abstentions"), reviewed=_count(args, "reviewed"))


def _l06(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if args.get("catalogue") is not True:
        yield _say("L06.no_catalogue")
        return
    yield _say("L06.catalogue", digest=code(str(args.get("digest"))), date=day(str(args.get("as_of"))))
    if args.get("marked") is not True:
        yield _say("L06.unmarked")


def _l07(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if isinstance(args.get("author"), str):
        yield _say("L07.author", author=figures.text_or(args.get("author"), "party.none"))
    else:
        yield _say("L07.unknown")


def _l08(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if texts(args.get("population")):
        frame = figures.text_or(args.get("frame"), "absent.frame")
        yield _say("L08.population", metrics=_names(facts, args.get("population")), frame=frame)
    if texts(args.get("bank")):
        yield _say("L08.bank", metrics=_names(facts, args.get("bank")), n=_count(args, "bank_size"))


def _l09(facts: Facts, args: JsonObject) -> Iterator[Node]:
    unreviewed = args.get("unreviewed")
    if unreviewed is None:
        yield _say("L09.unknown")
    elif _count(args, "unreviewed"):
        yield _say("L09.unreviewed", n=_count(args, "unreviewed"))
    if _count(args, "disputed"):
        yield _say(
            "L09.disputed",
            n=_count(args, "disputed"),
            state_for=_state(args.get("state_for")),
            state_against=_state(args.get("state_against")),
        )


def _state(value: JsonValue) -> Node:
    return figures.state_word(value) if isinstance(value, str) else say("figure.none")


def _l10(facts: Facts, args: JsonObject) -> Iterator[Node]:
    small: list[JsonValue] = [
        _say("L10.stratum", stratum=code(str(entry.get("stratum"))), count=_count(entry, "n"))
        for entry in objects(args.get("small"))
    ]
    if small:
        yield _say("L10.small", strata=listing(small, "and"))
    if texts(args.get("absent")):
        yield _say("L10.absent", strata=_names(facts, args.get("absent")))


def _l11(facts: Facts, args: JsonObject) -> Iterator[Node]:
    for entry in objects(args.get("metrics")):
        key = "L11.clusters" if entry.get("floor") is True else "L11.no_floor"
        yield _say(key, metric=_names(facts, [str(entry.get("id"))]), n=_count(entry, "clusters"))


def _l12(facts: Facts, args: JsonObject) -> Iterator[Node]:
    for entry in objects(args.get("metrics")):
        yield _say(
            "L12.power",
            metric=_names(facts, [str(entry.get("id"))]),
            margin=_points(entry.get("margin")),
            power_pass=_power(entry.get("power_pass")),
            power_breach=_power(entry.get("power_breach")),
        )
        if isinstance(entry.get("shortfall"), str):
            yield _say("L12.shortfall", shortfall=_points(entry.get("shortfall")))


def _power(value: JsonValue) -> Node:
    if not isinstance(value, str):
        return _say("L12.impossible")
    if Decimal(value) <= 0 or Decimal(value) >= 1:
        return _say("L12.certain") if Decimal(value) >= 1 else figures.risk(value)
    return share(value, "near")


def _l13(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if args.get("undisclosed") is True:
        yield _say("L13.undisclosed")
    if texts(args.get("shared")):
        yield _say("L13.shared", families=_names(facts, args.get("shared")))
    if _count(args, "items"):
        yield _say("L13.items", n=_count(args, "items"))


def _l14(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L14.transport")


def _l15(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say(
        "L15.version", n=_count(args, "answers"), echoes=_count(args, "echoes"), attested=_count(args, "attested")
    )


def _l16(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L16.special")


def _l17(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if _count(args, "reused"):
        yield _say("L17.reused", n=_count(args, "reused"))
    yield _say("L17.retention") if isinstance(args.get("no_training"), str) else _say("L17.no_promise")
    if isinstance(args.get("fresh_left"), int):
        audits = args.get("audits_left")
        left: JsonValue = audits if isinstance(audits, int) else say("figure.none")
        yield _say("L17.left", n=_count(args, "fresh_left"), audits=left)
    else:
        yield _say("L17.unknown")
    word = args.get("leaks")
    yield _say(f"L17.leaks_{word}") if word in leaks.WORDS else _say("L17.leaks_none")


def _l18(facts: Facts, args: JsonObject) -> Iterator[Node]:
    for entry in objects(args.get("metrics")):
        yield _say(
            "L18.bounds",
            metric=_names(facts, [str(entry.get("id"))]),
            n=_count(entry, "unresolved") + _count(entry, "open"),
            low=_share(entry.get("low")),
            high=_share(entry.get("high")),
        )


def _l19(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L19.counts", retries=_count(args, "retries"), excluded=_count(args, "excluded"))
    if texts(args.get("deviations")):
        yield _say("L19.deviations", words=_names(facts, args.get("deviations")))


def _l20(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if not _count(args, "witnesses"):
        yield _say("L20.no_witness")
    yield _say("L20.timestamps", n=_count(args, "timestamps")) if _count(args, "timestamps") else _say("L20.no_token")
    if args.get("beacon") is not True:
        yield _say("L20.no_beacon", draw=figures.code_or(args.get("draw"), "absent.agreed"))
    if args.get("custodian_is_auditor") is True:
        yield _say("L20.one_hand")


def _l21(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L21.public")
    if texts(args.get("recipients")):
        names = listing([foreign(name) for name in texts(args.get("recipients"))], "and")
        yield _say("L21.recipients", names=names)
    else:
        yield _say("L21.no_recipients")


def _l22(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L22.votes", n=_count(args, "votes"))


def _l23(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L23.accreditation", auditor=figures.text_or(args.get("auditor"), "party.none"))


def _l24(facts: Facts, args: JsonObject) -> Iterator[Node]:
    if args.get("demo") is True:
        yield _say("L24.demo")
    if args.get("self_signed") is True:
        yield _say("L24.self_signed")
    elif args.get("self_signed") is None:
        yield _say("L24.not_examined")
    yield _say("L24.level", level=figures.code_or(args.get("level"), "absent.agreed"))


def _l25(facts: Facts, args: JsonObject) -> Iterator[Node]:
    unsigned = [say(f"role.{role}") if role in figures.ROLES else code(role) for role in texts(args.get("unsigned"))]
    if unsigned:
        yield _say("L25.unsigned", roles=listing(list(unsigned), "and"))
    if isinstance(args.get("limits"), str):
        yield _say("L25.limits", limits=foreign(str(args.get("limits"))))
    if isinstance(args.get("payer"), str):
        yield _say("L25.payer", payer=figures.payer(args.get("payer")))


def _l26(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L26.self_check")


def _l27(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L27.use", metrics=_names(facts, args.get("metrics")))


def _l28(facts: Facts, args: JsonObject) -> Iterator[Node]:
    yield _say("L28.tools")


WRITERS: Mapping[str, Callable[[Facts, JsonObject], Iterator[Node]]] = {
    "L01": _l01,
    "L02": _l02,
    "L03": _l03,
    "L04": _l04,
    "L05": _l05,
    "L06": _l06,
    "L07": _l07,
    "L08": _l08,
    "L09": _l09,
    "L10": _l10,
    "L11": _l11,
    "L12": _l12,
    "L13": _l13,
    "L14": _l14,
    "L15": _l15,
    "L16": _l16,
    "L17": _l17,
    "L18": _l18,
    "L19": _l19,
    "L20": _l20,
    "L21": _l21,
    "L22": _l22,
    "L23": _l23,
    "L24": _l24,
    "L25": _l25,
    "L26": _l26,
    "L27": _l27,
    "L28": _l28,
}
