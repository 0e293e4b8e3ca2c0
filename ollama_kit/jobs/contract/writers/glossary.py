"""What names of ours mean to a reader: kinds of contracts, units, states, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Mapping

from ollama_kit.jobs.contract.topics import TOPICS

TERMS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "type": {
        "sale": ("买卖", "sale"),
        "service": ("服务", "service"),
        "lease": ("租赁", "lease"),
        "employment": ("劳动", "employment"),
        "construction": ("建设工程", "construction"),
        "loan": ("借款", "loan"),
        "guarantee": ("担保", "guarantee"),
        "equity": ("股权", "equity"),
        "franchise": ("特许经营", "franchise"),
        "distribution": ("经销", "distribution"),
        "sponsorship": ("赞助", "sponsorship"),
        "endorsement": ("代言", "endorsement"),
        "license": ("许可", "license"),
        "cooperation": ("合作", "cooperation"),
        "transport": ("运输", "transport"),
        "consulting": ("咨询", "consulting"),
        "nda": ("保密", "non-disclosure"),
        "other": ("其他", "other"),
    },
    "unit": {
        "minute": ("分钟", "minutes"),
        "hour": ("小时", "hours"),
        "day": ("天", "days"),
        "business_day": ("个工作日", "business days"),
        "week": ("周", "weeks"),
        "month": ("个月", "months"),
        "quarter": ("个季度", "quarters"),
        "year": ("年", "years"),
    },
    "per": {
        "day": ("每日", "a day"),
        "week": ("每周", "a week"),
        "month": ("每月", "a month"),
        "year": ("每年", "a year"),
    },
    "seal": {
        "signed": ("已签字或盖章", "signed"),
        "named": ("印有名称，是否签署从文字看不出", "name printed; whether it was signed the text cannot show"),
        "blank": ("空白，未签署", "blank, not signed"),
    },
    "risk": {
        "contradictory": ("矛盾", "Contradictory"),
        "one-sided": ("偏向一方", "One-sided"),
        "trap": ("陷阱", "Trap"),
        "hidden": ("隐藏", "Hidden"),
        "missing": ("缺失", "Missing"),
    },
    "detail": {
        "notice": ("通知期", "notice"),
        "period": ("期限", "period"),
        "place": ("地点", "place"),
        "cap": ("上限", "cap"),
        "rate": ("比例", "rate"),
        "owner": ("归属", "owner"),
        "kind": ("方式", "kind"),
        "date": ("日期", "date"),
        "amount": ("金额", "amount"),
        "invoice": ("发票", "invoice"),
        "price": ("价格", "price"),
        "bearer": ("承担方", "borne by"),
        "freight": ("运费承担", "freight borne by"),
        "risk": ("风险", "risk"),
        "term": ("贸易术语", "trade term"),
        "deemed": ("视为", "deemed"),
        "standard": ("标准", "standard"),
        "exception": ("除外", "exception"),
        "penalty": ("违约金", "penalty"),
        "indemnity": ("赔偿方", "indemnified by"),
        "damages": ("间接损失", "indirect damages"),
        "duty": ("义务", "duty"),
        "survival": ("合同终止后", "after the end"),
        "effect": ("后果", "effect"),
        "cure": ("补救期", "time to cure"),
        "who": ("哪一方", "who"),
        "in_words": ("大写", "in words"),
        "trigger": ("条件", "after"),
        "due": ("时间", "due"),
        "share": ("比例", "share"),
        "role": ("称谓", "role"),
        "legal_representative": ("法定代表人", "representative"),
        "registration_number": ("统一社会信用代码", "registration number"),
        "state": ("状态", "state"),
    },
    "said": {
        "automatic": ("自动", "automatic"),
        "agreement": ("双方协商", "by agreement"),
        "by_agreement": ("另行协商", "by agreement"),
        "option": ("一方可选", "one side's option"),
        "none": ("不续期", "none"),
        "convenience": ("无需理由", "for convenience"),
        "cause": ("因违约等事由", "for cause"),
        "included": ("含税", "tax included"),
        "excluded": ("不包括", "excluded"),
        "special": ("专用发票", "special VAT invoice"),
        "general": ("普通发票", "general invoice"),
        "any": ("须开发票", "an invoice"),
        "withholding": ("代扣代缴", "withholding"),
        "work_for_hire": ("职务作品", "work for hire"),
        "ownership": ("归属", "ownership"),
        "assignment": ("转让", "assignment"),
        "license": ("许可", "licence"),
        "non_infringement": ("不侵权保证", "no infringement"),
        "compensation": ("赔偿损失", "compensation"),
        "no_liability": ("免责", "no liability"),
        "excused": ("免责", "excused"),
        "suspended": ("中止或顺延", "suspended"),
        "termination": ("可以解除", "termination"),
        "accepted": ("视为合格", "accepted"),
        "rejected": ("视为不合格", "rejected"),
        "indefinite": ("无期限", "without end"),
        "true": ("是", "yes"),
        "false": ("否", "no"),
    },
    "hidden": {
        "white": ("与纸同色", "the colour of the paper"),
        "tiny": ("字太小", "too small to read"),
        "invisible": ("不着墨", "drawn without ink"),
        "transparent": ("透明", "transparent"),
        "covered": ("被盖住", "under something"),
        "off_page": ("在页面之外", "outside the page"),
        "vanish": ("Word 隐藏文字", "Word's hidden text"),
        "style": ("网页样式隐藏", "hidden by HTML or CSS"),
        "aria": ("只给读屏软件", "for screen readers only"),
        "comment": ("源码注释", "a comment in the source"),
        "metadata": ("文件属性", "a document property"),
    },
    "note": {
        "comment": ("批注", "comment"),
        "footnote": ("脚注", "footnote"),
        "endnote": ("尾注", "endnote"),
        "header": ("页眉", "header"),
        "footer": ("页脚", "footer"),
    },
    "action": {
        "flagged": ("已标出", "flagged"),
        "neutralized": ("已失效处理", "neutralized"),
        "redacted": ("已遮盖", "redacted"),
        "removed": ("已移除", "removed"),
        "fenced": ("已隔离", "fenced"),
        "blocked": ("已拦下", "blocked"),
        "converted": ("已转换", "converted"),
    },
}


def term_of(group: str, name: str, language: str) -> str:
    """What a name of ours means to a reader; where there is no word for it, the name itself.

    >>> term_of("type", "sale", "zh"), term_of("unit", "month", "en"), term_of("detail", "notice_days", "en")
    ('买卖', 'months', 'notice days')
    """
    zh, en = TERMS[group].get(name, ("", ""))
    return (zh if language == "zh" else en) or name.replace("_", " ")


def topic_of(name: str, language: str) -> str:
    """What a topic is called. A heading of a plain summary is in the contract's language already and stays as it is."""
    if name in TOPICS:
        return TOPICS[name].zh if language == "zh" else TOPICS[name].en
    return name
