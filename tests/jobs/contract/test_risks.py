"""What whoever signs should look at: rule and quote."""

from __future__ import annotations

import pytest

from tests.jobs.contract.samples import annotated, facts_of, rules_of
from tests.jobs.contract.test_facts import english

SOUND = (
    "采购合同\n甲方：某某有限公司\n乙方：某某设备厂\n第一条 价款\n"
    "合同总价为人民币 100 元（大写：壹佰元整），质保期为 12 个月。\n"
    "第二条 责任\n违约方应赔偿损失，任何一方可依法解除合同，双方应当保密，不可抗力除外，通知应以书面送达。\n"
    "第三条 期限\n本合同期限为 1 年，自双方签署之日起生效，适用中华人民共和国法律，争议提交北京仲裁委员会仲裁。\n"
    "签订日期：2026年3月1日\n甲方（盖章）：某某有限公司\n乙方（盖章）：某某设备厂\n"
)


def test_a_sound_contract_has_no_finding() -> None:
    """Nothing is missing and nothing contradicts."""
    assert rules_of(facts_of(SOUND)) == set()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("壹佰元整", "壹佰零壹元整", "figures_and_words"),
        ("第二条 责任\n", "第二条 责任\n另有质保期 24 个月。\n", "two_warranties"),
        ("第二条 责任\n", "第二条 责任\n依第九条执行。\n", "dangling_reference"),
        ("第二条 责任\n", "第二条 责任\n合同总价为人民币 200 元。\n", "two_amounts"),
        ("，适用中华人民共和国法律", "", "missing_law"),
        ("，争议提交北京仲裁委员会仲裁", "", "missing_dispute"),
        ("不可抗力除外，", "", "missing_force_majeure"),
        ("本合同期限为 1 年，", "", "missing_term"),
        ("签订日期：2026年3月1日\n", "", "missing_date"),
        ("违约方应赔偿损失，", "", "missing_liability"),
        ("第二条 责任\n", "第二条 责任\n甲方有权随时解除本合同。\n", "unilateral_termination"),
        ("第二条 责任\n", "第二条 责任\n最终解释权归甲方所有。\n", "sole_interpretation"),
        ("第二条 责任\n", "第二条 责任\n期满自动续期一年。\n", "automatic_renewal"),
        ("第二条 责任\n", "第二条 责任\n交货地点：______。\n", "blank"),
        ("甲方（盖章）：某某有限公司", "甲方（盖章）：________", "unsigned"),
        ("甲方（盖章）：某某有限公司", "甲方（盖章）：另一设备有限公司", "two_names"),
    ],
)
def test_one_change_gives_one_finding(old: str, new: str, rule: str) -> None:
    """Each rule on its own, and with the words that it is about."""
    text = SOUND.replace(old, new)
    assert text != SOUND
    facts = facts_of(text)
    assert rule in rules_of(facts)
    assert rules_of(facts) <= {rule, "blank", "unsigned", "two_effective_dates"}
    for risk in facts.risks:
        assert risk.evidence or risk.kind == "missing"


def test_both_sides_of_a_contradiction_are_shown() -> None:
    """The rent of the body and that of the annex."""
    facts, gold, _ = annotated("zh_lease_conflict")
    (risk,) = [risk for risk in facts.risks if risk.rule == "two_amounts"]
    assert all(value.split(".")[0] in risk.message.replace(",", "") for value in gold["conflicts"][0]["values"])
    assert len(risk.evidence) == 2


def test_an_end_before_the_beginning() -> None:
    """Of an English contract."""
    text = english(term="x").replace("continue for x", "continue until December 31, 2025")
    assert "end_before_start" in rules_of(facts_of(text))
