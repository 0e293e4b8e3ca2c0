"""What a good model answers over the example contracts is proven: in other words, forms and orders than theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ollama_kit.documents.reading import read_document
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.planning import sides_of
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.jobs.contract.questions.questionnaire import load_questionnaire

EXAMPLES = Path(__file__).parents[3] / "examples" / "contracts"
CHINESE = [
    (
        "parties",
        {
            "name": "澜州恒川装备制造有限公司",
            "role": "甲方（买方）",
            "legal_representative": "陆正衡",
            "registration_number": "91329900MA7HC21K6F",
        },
        ["甲方（买方）：澜州恒川装备制造有限公司"],
    ),
    (
        "parties",
        {
            "name": "青屿启岳自动化科技有限公司",
            "role": "乙方",
            "legal_representative": "沈亦舟",
            "registration_number": "",
        },
        ["乙方（卖方）：青屿启岳自动化科技有限公司"],
    ),
    ("type", "sale", ["设备采购合同"]),
    ("number", "HC-CG-2026-0417", ["合同编号：HC-CG-2026-0417"]),
    ("signing_date", "2026年4月17日", ["签订日期：2026年4月17日"]),
    ("signing_date", "2026-04-17", ["签订日期：2026年4月17日"]),
    (
        "effective_date",
        "自双方法定代表人或授权代表签字并加盖公章或合同专用章之日起生效",
        ["本合同自双方法定代表人或授权代表签字并加盖公章或合同专用章之日起生效"],
    ),
    (
        "amounts",
        {"what": "合同总价", "amount": "人民币2,360,000.00元", "in_words": "贰佰叁拾陆万元整"},
        ["本合同总价（含税）为人民币2,360,000.00元（大写：人民币贰佰叁拾陆万元整）"],
    ),
    ("amounts", {"what": "税额", "amount": "271,504.42元", "in_words": ""}, ["增值税税额为人民币271,504.42元"]),
    (
        "payments",
        {"stage": "预付款", "share": "30%", "amount": "708,000元", "trigger": "合同生效后", "due": "10个工作日内"},
        ["本合同生效后10个工作日内，甲方支付合同总价的30%，即人民币708,000.00元"],
    ),
    (
        "payments",
        {
            "stage": "到货款（第二期）",
            "share": "60%",
            "amount": "1,416,000.00元",
            "trigger": "全部设备到货验收合格后",
            "due": "15个工作日内",
        },
        ["设备全部运抵交货地点并经到货验收合格后15个工作日内，甲方支付合同总价的60%，即人民币1,416,000.00元"],
    ),
    (
        "tax",
        {"says": "总价含13%增值税，乙方开具增值税专用发票", "rate": "13%"},
        ["税率为13%", "乙方应开具等额的增值税专用发票"],
    ),
    (
        "delivery",
        {"says": "乙方须在2026年8月31日前把全部设备送到甲方指定地点"},
        ["乙方应于2026年8月31日前将全部设备运抵甲方指定的交货地点"],
    ),
    (
        "acceptance",
        {"says": "甲方收到验收申请后10个工作日内组织验收，逾期未验收又未书面提异议的视为合格"},
        ["甲方应在收到乙方最终验收申请后10个工作日内组织验收", "逾期未组织验收且未提出书面异议的，视为验收合格"],
    ),
    ("warranty", {"says": "质保24个月，自最终验收合格起算", "period": "24个月"}, ["质保期为24个月"]),
    (
        "penalty",
        {"says": "卖方逾期交货，每天按逾期设备价款的万分之五付违约金，最多合同总价的10%", "rate": "0.05%"},
        ["乙方逾期交货的，每逾期一日，应按逾期交付设备价款的0.05%向甲方支付违约金，违约金总额不超过合同总价的10%"],
    ),
    (
        "penalty",
        {"says": "买方逾期付款每天付万分之三", "rate": "万分之三"},
        ["甲方逾期付款的，每逾期一日，应按逾期应付金额的万分之三向乙方支付违约金"],
    ),
    (
        "termination",
        {"says": "甲方提前7天书面通知就可以解除合同，不需要理由也不赔偿"},
        ["甲方因生产经营需要，可以提前7日书面通知乙方解除本合同，无须说明理由，且不承担任何违约责任"],
    ),
    ("dispute_forum", {"body": "澜州仲裁委员会"}, ["提交澜州仲裁委员会"]),
    ("governing_law", "中华人民共和国法律", ["适用中华人民共和国法律"]),
    (
        "deal",
        "这是一份设备采购合同：恒川公司向启岳公司买设备，总价236万元。",
        ["本合同总价（含税）为人民币2,360,000.00元"],
    ),
    (
        "money",
        "分三期付款：30%预付、60%到货、10%质保金。",
        ["甲方支付合同总价的30%", "甲方支付合同总价的60%", "质保金：合同总价的10%"],
    ),
    ("trouble", "违反保密义务要赔20万元。", ["任何一方违反保密义务的，应向守约方支付违约金人民币200,000元"]),
]
ENGLISH = [
    (
        "parties",
        {
            "name": "Calder Ridge Software, Inc.",
            "role": "Provider",
            "legal_representative": "",
            "registration_number": "",
        },
        ["Calder Ridge Software, Inc., a Delaware corporation"],
    ),
    (
        "parties",
        {
            "name": "Northmere Freight LLC",
            "role": "“Client”",
            "legal_representative": "Thomas Okafor",
            "registration_number": "",
        },
        ["Northmere Freight LLC, an Oregon limited liability company"],
    ),
    ("effective_date", "May 1, 2026", ["is entered into as of May 1, 2026 (the “Effective Date”)"]),
    ("effective_date", "2026-05-01", ["entered into as of May 1, 2026"]),
    ("term", "24 months", ["continues for a period of twenty-four (24) months (the “Initial Term”)"]),
    (
        "term",
        "twenty-four (24) months from the Effective Date",
        ["This Agreement begins on the Effective Date and continues for a period of twenty-four (24) months"],
    ),
    (
        "renewal",
        {
            "says": "It renews automatically for 12-month periods"
            " unless a party gives notice 10 to 30 days before the end",
            "kind": "automatic",
        },
        [
            "this Agreement will renew automatically for successive periods of twelve (12) months",
            "not more than thirty (30) days and not less than ten (10) days before the end of the then-current term",
        ],
    ),
    (
        "amounts",
        {"what": "implementation fee", "amount": "US$42,000.00", "in_words": "forty-two thousand dollars"},
        ["one-time implementation fee of forty-two thousand dollars (US$42,000.00)"],
    ),
    (
        "amounts",
        {"what": "monthly fee", "amount": "$6,800", "in_words": ""},
        ["monthly subscription fee of US$6,800.00"],
    ),
    (
        "payments",
        {
            "stage": "first half of the implementation fee",
            "share": "50%",
            "amount": "",
            "trigger": "Effective Date",
            "due": "on the Effective Date",
        },
        ["fifty percent (50%) on the Effective Date"],
    ),
    (
        "penalty",
        {"says": "Late payments bear 1.5% interest per month", "rate": "1.5% per month"},
        ["one and one-half percent (1.5%) per month"],
    ),
    (
        "termination",
        {"says": "Provider may end the agreement for any reason on 15 days' notice"},
        [
            (
                "Provider may terminate this Agreement for any reason or"
                " no reason upon fifteen (15) days’ written notice to Client."
            )
        ],
    ),
    (
        "governing_law",
        "the laws of the State of Oregon",
        ["This Agreement is governed by the laws of the State of Oregon"],
    ),
    (
        "dispute_forum",
        {"body": "American Arbitration Association (Commercial Arbitration Rules)"},
        ["administered by the American Arbitration Association under its Commercial Arbitration Rules"],
    ),
    ("liability", {"says": "Liability is capped at USD 150,000"}, ["US$150,000.00"]),
    (
        "deal",
        "Calder Ridge sets up and hosts planning software for Northmere from May 1, 2026 for two years.",
        ["continues for a period of twenty-four (24) months", "entered into as of May 1, 2026"],
    ),
    (
        "money",
        "Half of the $42,000 set-up fee is due at once, then $6,800 a month in advance.",
        [
            "forty-two thousand dollars (US$42,000.00)",
            (
                "Client shall pay a monthly subscription fee of"
                " US$6,800.00, invoiced in advance on the first business day of each month"
            ),
        ],
    ),
]


@pytest.mark.parametrize(
    ("name", "language", "answers"),
    [("purchase_contract.txt", "zh", CHINESE), ("service_agreement.txt", "en", ENGLISH)],
)
def test_natural_answers_are_proven(name: str, language: str, answers: list[tuple[str, Any, list[str]]]) -> None:
    """Each of them: figures in other forms, one side by"
    " its other name, several quotes, words of the model's own."""
    document = read_document(EXAMPLES / name)
    prover = Prover(ContractText.of(document), sides_of(extract_facts(document)))
    schemas = {question.name: question.schema for question in load_questionnaire(language).questions}
    claims = [
        prover.prove(Claim(question, value), quotes, schemas.get(question, {"type": "string"}))
        for question, value, quotes in answers
    ]
    assert [(claim.value, claim.doubts, claim.invented) for claim in claims if not claim.is_proven] == []
