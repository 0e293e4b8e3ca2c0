"""The facts of a contract in Markdown, for whoever reads before signing: each with the words that prove it."""

from __future__ import annotations

from collections.abc import Iterator

from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.facts.values import Fact, Party
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.pages.markdown import escape_markdown

LONGEST_QUOTE = 200
DEEPEST_OUTLINE = 1
"""Levels of the outline that are shown below the first."""

_WORDS = {
    "zh": {
        "title": "标题",
        "type": "合同类型",
        "number": "合同编号",
        "signing_date": "签订日期",
        "effective_date": "生效日期",
        "end_date": "终止日期",
        "term": "期限",
        "governing_law": "适用法律",
        "dispute_forum": "争议解决",
        "facts": "要点",
        "parties": "当事人",
        "amounts": "金额",
        "rates": "比例",
        "risks": "风险提示",
        "clauses": "条款",
        "absent": "未找到(已查找：{})",
        "conflict": "相互矛盾",
        "none": "无",
        "rules_only": "由规则提取，未使用模型；不构成法律意见。",
        "page": "第 {} 页",
        "paragraph": "第 {} 段",
    },
    "en": {
        "title": "Title",
        "type": "Type",
        "number": "Number",
        "signing_date": "Signing date",
        "effective_date": "Effective date",
        "end_date": "End date",
        "term": "Term",
        "governing_law": "Governing law",
        "dispute_forum": "Disputes",
        "facts": "Facts",
        "parties": "Parties",
        "amounts": "Amounts",
        "rates": "Rates",
        "risks": "Risks",
        "clauses": "Clauses",
        "absent": "absent (searched: {})",
        "conflict": "CONFLICT",
        "none": "none",
        "rules_only": "Found by rules, without a model; no legal advice.",
        "page": "page {}",
        "paragraph": "paragraph {}",
    },
}


def write_markdown(facts: ContractFacts) -> str:
    """The facts in the contract's language."""
    words = _WORDS[facts.language]
    lines = [f"# {escape_markdown(facts.title.first or facts.name)}", "", words["rules_only"], ""]
    lines += [f"## {words['facts']}", ""]
    for name, found in facts.facts.items():
        lines += _fact(words, name, found)
    lines += ["", f"## {words['parties']}", "", *_parties(words, facts)]
    lines += ["", f"## {words['amounts']}", "", *_amounts(words, facts)]
    lines += ["", f"## {words['rates']}", "", *_rates(words, facts)]
    lines += ["", f"## {words['risks']}", "", *_risks(words, facts)]
    lines += ["", f"## {words['clauses']}", "", *_clauses(words, facts)]
    return "\n".join(lines).encode("utf-8", "replace").decode("utf-8") + "\n"


def _fact(words: dict[str, str], name: str, found: Fact) -> Iterator[str]:
    if not found.values:
        yield f"- **{words[name]}**: {words['absent'].format(escape_markdown('; '.join(found.searched)))}"
    for value in found.values:
        mark = f" **{words['conflict']}**" if found.state == "conflict" else ""
        yield f"- **{words[name]}**:{mark} {_short(value.value)} — {_proof(words, value.evidence)}"


def _proof(words: dict[str, str], evidence: Evidence) -> str:
    page = [words["page"].format(evidence.page)] if evidence.page else []
    place = ", ".join([*page, words["paragraph"].format(evidence.paragraph)])
    return f"“{_short(evidence.quote)}” ({place})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return escape_markdown(line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…")


def _parties(words: dict[str, str], facts: ContractFacts) -> Iterator[str]:
    if not facts.parties:
        yield f"- {words['absent'].format(escape_markdown('; '.join(facts.parties_searched)))}"
    for party in facts.parties:
        names = " / ".join(_short(name.value) for name in party.names)
        proof = _proof(words, party.names[0].evidence) if party.names else ""
        yield f"- **{escape_markdown(' / '.join(party.roles)) or '?'}**: {names} — {proof}"
        yield from _particulars(words, party)


def _particulars(words: dict[str, str], party: Party) -> Iterator[str]:
    for value in (party.representative, party.registration, party.address):
        if value is not None:
            yield f"  - {_short(value.value)} — {_proof(words, value.evidence)}"
    if party.seal and party.seal_evidence:
        yield f"  - {party.seal}: {_proof(words, party.seal_evidence)}"


def _amounts(words: dict[str, str], facts: ContractFacts) -> Iterator[str]:
    if not facts.amounts:
        yield f"- {words['none']}"
    for one in facts.amounts:
        mark = f" **{words['conflict']}**" if one.conflict else ""
        about = f" {escape_markdown(one.about)}" if one.about else ""
        yield f"- {one.currency} {one.value:,f}{about}{mark} — {_proof(words, one.evidence)}"


def _rates(words: dict[str, str], facts: ContractFacts) -> Iterator[str]:
    if not facts.rates:
        yield f"- {words['none']}"
    for one in facts.rates:
        low, high = f"{float(100 * one.low):.6g}", f"{float(100 * one.high):.6g}"
        span = f"{low} %" if low == high else f"{low} – {high} %"
        per = f" / {one.per}" if one.per else ""
        yield f"- {one.kind}: {span}{per} — {_proof(words, one.evidence)}"


def _risks(words: dict[str, str], facts: ContractFacts) -> Iterator[str]:
    if not facts.risks:
        yield f"- {words['none']}"
    for risk in facts.risks:
        yield f"- **{risk.kind}** {_short(risk.message)}"
        for evidence in risk.evidence:
            yield f"  - {_proof(words, evidence)}"


def _clauses(words: dict[str, str], facts: ContractFacts) -> Iterator[str]:
    shown = [clause for clause in facts.structure.outline.clauses if clause.depth <= DEEPEST_OUTLINE]
    if not shown:
        yield f"- {words['none']}"
    for clause in shown:
        yield f"{'  ' * clause.depth}- {escape_markdown(f'{clause.number} {clause.title}'.strip())}"
