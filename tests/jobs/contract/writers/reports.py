"""Reports put together by hand: the contracts of the tests with answers and a summary as a model would give them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from ollama_kit.documents.document import ReadDocument
from ollama_kit.documents.reading import read_document
from ollama_kit.jobs.contract.answers import Answer, Answered, Answers, Notice, PlainSummary, Sentence
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk, Structure
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.facts.fact_values import (
    Detail,
    Fact,
    Length,
    Money,
    Party,
    Payment,
    Provision,
    Rate,
    Value,
)
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.structure.outline import Clause as OutlineClause, Outline
from tests.jobs.contract.samples import FOLDER, document

MODEL, HOST = "qwen3-27b-custom", "127.0.0.1:11434"


def quote(read: ReadDocument, words: str) -> Evidence:
    """The first place of some words in a document."""
    start = read.text.index(words)
    place = read.place(start)
    return Evidence(words, start, start + len(words), place.page, place.paragraph)


def bare(text: str) -> ContractReport:
    """A text read by rules alone."""
    read = document(text)
    return ContractReport(read, extract_facts(read))


def ruled(path: Path) -> ContractReport:
    read = read_document(path)
    return ContractReport(read, extract_facts(read))


def sale() -> ContractReport:
    """The Chinese purchase contract with an answer of every kind: agreed, differing, invented, doubted, failed, absent,
    in conflict."""
    report = ruled(FOLDER / "synthetic_zh_sale.txt")
    read = report.document

    def of(*words: str) -> tuple[Evidence, ...]:
        return tuple(quote(read, one) for one in words)

    questions = (
        Answered(
            "parties",
            "当事人",
            True,
            (
                Answer(
                    {"name": "星河智联科技（江州）有限公司", "role": "甲方", "legal_representative": ""},
                    of("甲方（买方）：星河智联科技（江州）有限公司"),
                ),
                Answer({"name": "北辰精工设备有限公司", "role": "乙方"}, of("乙方（卖方）：北辰精工设备有限公司")),
            ),
            ("首部",),
            agreement="agree",
        ),
        Answered("title", "标题", False, (Answer("设备采购合同", of("设备采购合同")),), agreement="agree"),
        Answered("type", "合同类型", False, (Answer("sale", of("设备采购合同")),), agreement="agree"),
        Answered(
            "signatures",
            "签署",
            True,
            (
                Answer(
                    {"party": "甲方", "state": "named"},
                    of("甲方（盖章）：星河智联科技（江州）有限公司\n日期：2026年4月18日"),
                ),
            ),
        ),
        Answered(
            "effective_date",
            "生效日期",
            False,
            (Answer("2026年4月20日", of("日期：2026年4月20日")), Answer("2026年4月18日", of("日期：2026年4月18日"))),
            ("第六条 合同期限", "签署页"),
            agreement="differ",
            differences=("模型读到“2026年4月18日”，规则没有",),
        ),
        Answered(
            "term",
            "期限",
            False,
            (Answer("三年", (), ("本合同有效期三年",)),),
            ("第六条 合同期限",),
            agreement="model_only",
        ),
        Answered(
            "amounts",
            "金额",
            True,
            (
                Answer(
                    {"what": "合同总价", "amount": "人民币 1,200,000.00 元", "in_words": "壹佰贰拾万元整"},
                    of("合计（含 13% 增值税）：人民币 1,200,000.00 元（大写：壹佰贰拾万元整）"),
                ),
                Answer({"what": "运费", "amount": "人民币 8,000 元"}, of("运费由乙方承担"), doubts=("8,000",)),
            ),
            agreement="agree",
        ),
        Answered(
            "payments",
            "付款",
            True,
            (
                Answer(
                    {
                        "stage": "预付款",
                        "share": "30%",
                        "amount": "人民币 360,000.00 元",
                        "trigger": "合同生效之日起 7 个工作日内",
                    },
                    of("合同生效之日起 7 个工作日内，甲方支付合同总价的 30% 作为预付款，即人民币 360,000.00 元"),
                ),
            ),
            agreement="agree",
        ),
        Answered(
            "penalty",
            "违约金",
            True,
            (
                Answer(
                    {"says": "卖方晚交一天，按没交货物的价款万分之五付违约金，最多为总价的 5%。", "rate": "0.05%"},
                    of("乙方逾期交货的，每逾期一日按未交货部分价款的 0.05% 支付违约金，累计不超过合同总价的 5%"),
                ),
            ),
            agreement="agree",
        ),
        Answered("renewal", "续期", True, (), ("第六条 合同期限",)),
        Answered(
            "acceptance",
            "验收",
            True,
            (Answer({"says": "货到后先做初步验收，合格才付第二笔款。"}, of("设备到货并经初步验收合格后 10 日内")),),
            ("第三条 付款方式",),
            ("附件二 验收标准",),
        ),
        Answered("confidentiality", "保密", True, (), ("第八条 其他",), failure="三次回答都不是合规的 JSON"),
        Answered(
            "risks",
            "风险条款",
            True,
            (
                Answer(
                    {"kind": "one-sided", "why": "争议只能去甲方所在地的法院，对乙方不便。"},
                    of("任何一方均可向甲方所在地有管辖权的人民法院提起诉讼"),
                ),
                Answer(
                    {"kind": "trap", "why": "没有写明最终验收的期限，质保期可能一直不开始。"},
                    (),
                    ("自最终验收之日起算",),
                ),
            ),
        ),
        Answered("lucky_number", "吉利数", False, (Answer("8", of("8 号"), suspect=True),)),
    )
    sentences = (
        Sentence(
            "这份合同是什么",
            "星河智联向北辰精工买 3 台数控加工中心和 3 套刀具，含税总价 120 万元。",
            of("数控加工中心 | BC-850V | 3 台", "人民币 1,200,000.00 元（大写：壹佰贰拾万元整）"),
        ),
        Sentence(
            "钱",
            "先付三成，到货初验后付六成，剩一成质保期满后付清。",
            of("支付合同总价的 30% 作为预付款", "剩余 10% 为质保金"),
        ),
        Sentence("钱", "付款晚了，每天多付欠款的万分之三。", of("甲方逾期付款的，按逾期金额的日万分之三支付违约金")),
        Sentence("签字前要注意", "卖方可以随时涨价。", (), ("乙方有权调整价格",)),
    )
    notice = Notice("injection.orders", "medium", "flagged", quote(read, "本合同一式肆份"))
    return ContractReport(
        read,
        report.facts,
        Answers(MODEL, HOST, questions, (notice,)),
        PlainSummary(MODEL, HOST, sentences, left_out=2, notices=(notice,)),
    )


def english() -> ContractReport:
    """A short English agreement with a user's own questions."""
    read = document(
        "SERVICES AGREEMENT\n\nThis Services Agreement is made as of March 1, 2026 by and between Alpha Works, Inc. "
        '("Provider") and Beta Stores LLC ("Client").\n\n1. Fees\nClient shall pay a fee of US$12,000.00 within thirty '
        "(30) days of each invoice.\n\n2. Term\nThis Agreement commences on March 1, 2026 and continues for a term of "
        "two (2) years. It shall automatically renew for successive terms of one (1) year.\n\n3. Governing Law\nThis "
        "Agreement shall be governed by the laws of the State of Oregon.\n"
    )
    questions = (
        Answered("notice_days", "notice_days", False, (Answer(30, (quote(read, "thirty (30) days"),)),)),
        Answered("insurance", "Insurance", False, (), ("1. Fees", "2. Term")),
        Answered(
            "contacts", "Contacts", True, (Answer({"who": "Alpha Works, Inc.", "reachable": True, "mail": None}, ()),)
        ),
    )
    value = {"notice_days": 30, "contacts": []}
    answers = Answers(MODEL, HOST, questions, value=value, problems=("$: 'insurance' is a required property",))
    return ContractReport(read, extract_facts(read), answers)


def pinned(report: ContractReport) -> ContractReport:
    """The report with a few facts by hand in place of the rules', so that what is written changes with the writers
    only."""
    read, language = report.document, report.facts.language
    first = read.text.index("\n")

    def value(words: str, said: str = "", *basis: str) -> Value:
        return Value(said or words, quote(read, words), "by hand", tuple(quote(read, one) for one in basis))

    zh = language == "zh"
    title = value(read.text[:first])
    dates = ("2026年4月20日", "2026年4月18日") if zh else ("March 1, 2026",)
    names = ("星河智联科技（江州）有限公司", "北辰精工设备有限公司") if zh else ("Alpha Works, Inc.", "Beta Stores LLC")
    roles = (("甲方", "买方"), ("乙方", "卖方")) if zh else (("Provider",), ("Client",))
    amount = "人民币 1,200,000.00 元（大写：壹佰贰拾万元整）" if zh else "US$12,000.00"
    law = "本合同适用中华人民共和国法律" if zh else "governed by the laws of the State of Oregon"
    clause = "第七条 法律适用与争议解决" if zh else "3. Governing Law"
    numbered, _, heading = clause.partition(" ")
    start = read.text.index(clause)
    outline = Outline((OutlineClause(numbered, heading, "article", ("7",), start, len(read.text), 0, -1),))
    absent = Fact((), ("合同编号：", "Contract No."))
    facts = ContractFacts(
        name=read.name,
        kind=read.kind,
        language=language,
        title=Fact((title,)),
        contract_type=Fact((value(title.value, "sale" if zh else "service"),)),
        number=absent,
        parties=tuple(Party(role, (value(name),), seal="named") for role, name in zip(roles, names, strict=True)),
        parties_searched=(),
        signing_date=absent,
        effective_date=Fact((value(law, "2026-04-20" if zh else "2026-03-01", dates[0]),)),
        end_date=Fact(tuple(map(value, dates)), conflict=zh),
        term=Fact(),
        amounts=(Money("合计" if zh else "fee", "CNY", Decimal(12), Decimal(13), True, "", quote(read, amount)),),
        rates=(Rate("penalty", Fraction(1, 2000), Fraction(1, 2000), "day", False, "", quote(read, amount)),),
        warranties=(Length("warranty", Fraction(1), "year", False, "", quote(read, amount)),),
        governing_law=Fact((value(law),)),
        dispute_forum=absent,
        structure=Structure(outline, (), (), (), None),
        warnings=("a warning of the reader",),
        risks=(
            Risk(
                "two_ends", "contradictory", "two end dates", "两个终止日期", tuple(quote(read, one) for one in dates)
            ),
        ),
        payments=(Payment("预付款" if zh else "", Fraction(3, 10), "", None, "", amount, "", quote(read, amount)),),
        provisions=(
            Provision("renewal", "", "", (Detail("notice", "30 day", quote(read, law)),), quote(read, law)),
            Provision("tax", "", clause, (Detail("price", "included", quote(read, law)),), quote(read, law)),
        ),
    )
    return replace(report, facts=facts)
