"""What contracts speak of, and the words by which the place is found: in titles of clauses, and in their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Topic:
    """A matter that a contract settles. `titles` are words of the title of its clause, `words` those of its text:
    patterns for folded text in lower case. `zh` and `en` are what it is called."""

    name: str
    zh: str
    en: str
    titles: str
    words: str

    def is_titled(self, title: str) -> bool:
        """Whether a clause's title (folded, in lower case) names the topic."""
        return _compiled(self.titles).search(title) is not None

    def pattern(self) -> re.Pattern[str]:
        """Words of the topic in folded text in lower case."""
        return _compiled(self.words)


_ALL = (
    Topic(
        "parties", "当事人", "Parties",
        r"当事人|双方信息|\bparties\b",
        r"统一社会信用代码|法定代表人|[甲乙丙丁]方\s?[:(]|以下简称|hereinafter|\bby and between\b|\bbetween\b",
    ),
    Topic(
        "subject", "标的", "Subject",
        r"标的|货物|产品|服务内容|工作内容|租赁物|\bscope\b|services?\b|goods|products?\b|premises",
        r"规格|型号|数量|服务内容|租赁物|标的物|\bscope of (?:work|services)\b|\bspecification",
    ),
    Topic(
        "dates", "期限与日期", "Dates and term",
        r"期限|有效期|生效|\bterm\b|effective|commencement|duration",
        r"生效|有效期|期限|起至|签订日期|签署日期|届满|effective date|\bterm of\b|commenc|expir|dated as of",
    ),
    Topic(
        "renewal", "续期", "Renewal",
        r"续期|续约|续签|续租|顺延|renew|extension",
        r"续期|续约|续签|续租|顺延|展期|延续|renew|extend(?:ed|s)? (?:for|the term)|successive",
    ),
    Topic(
        "price", "价款", "Price",
        r"价款|价格|费用|租金|报酬|金额|\bprice|\bfees?\b|compensation|\brent\b|consideration",
        r"总价|价款|金额|人民币|单价|租金|押金|费用|报酬|\bprice\b|\bfees?\b|\brent\b|us\$|\busd\b|\brmb\b",
    ),
    Topic(
        "payment", "付款", "Payment",
        r"付款|支付|结算|\bpayments?\b|invoic|billing",
        r"付款|支付|预付|尾款|余款|首付|定金|进度款|质保金|结算|\bpay(?:able|ment|ments|s)?\b|invoice|instal",
    ),
    Topic(
        "tax", "税费", "Tax",
        r"税|\btax(?:es)?\b|\bvat\b",
        r"含税|不含税|税率|税费|增值税|专用发票|税款|\btax(?:es)?\b|\bvat\b|withholding",
    ),
    Topic(
        "delivery", "交付", "Delivery",
        r"交付|交货|运输|供货|发货|deliver|shipment|shipping",
        r"交付|交货|发货|运抵|到货|交货地点|送达至|deliver(?:y|ed|s|able)|shipment|\bfob\b|\bcif\b|incoterms",
    ),
    Topic(
        "acceptance", "验收", "Acceptance",
        r"验收|检验|质量异议|accept|inspection",
        r"验收|检验|异议|视为合格|inspect(?:ion)?|acceptance (?:test|criteria|certificate|period)|reject",
    ),
    Topic(
        "warranty", "质保", "Warranty",
        r"质保|保修|质量保证|售后|warrant",
        r"质保|保修|质量保证|维修|warrant(?:y|ies|s)\b",
    ),
    Topic(
        "liability", "违约责任", "Liability",
        r"违约|责任|赔偿|liabilit|indemn|damages|penalt",
        r"违约金|滞纳金|赔偿|承担.{0,8}责任|liab(?:le|ility)|indemni|liquidated damages|penalt|late (?:fee|charge)",
    ),
    Topic(
        "confidentiality", "保密", "Confidentiality",
        r"保密|商业秘密|confidential|non-?disclosure",
        r"保密|商业秘密|泄露|披露|confidential|non-?disclosure|disclos",
    ),
    Topic(
        "intellectual_property", "知识产权", "Intellectual property",
        r"知识产权|著作权|专利|商标|intellectual property|proprietary|ownership|license",
        r"知识产权|著作权|版权|专利|商标|所有权归|intellectual property|copyright|patent|trademark|works? for hire",
    ),
    Topic(
        "termination", "解除与终止", "Termination",
        r"解除|终止|terminat",
        r"解除(?:本)?(?:合同|协议)?|终止|terminat",
    ),
    Topic(
        "force_majeure", "不可抗力", "Force majeure",
        r"不可抗力|force majeure",
        r"不可抗力|force majeure|acts? of god|beyond (?:its|the) (?:reasonable )?control",
    ),
    Topic(
        "governing_law", "适用法律", "Governing law",
        r"适用法律|法律适用|governing law|applicable law|choice of law",
        r"适用.{0,20}法律|依照.{0,20}法律|governed by|laws of|governing law",
    ),
    Topic(
        "disputes", "争议解决", "Disputes",
        r"争议|仲裁|诉讼|管辖|dispute|arbitrat|jurisdiction|venue",
        r"仲裁|法院|诉讼|管辖|争议|arbitrat|\bcourts?\b|jurisdiction|venue|dispute",
    ),
    Topic(
        "signatures", "签署", "Signatures",
        r"签署|签字|盖章|signature",
        r"盖章|签字|签章|签署|in witness whereof|\bby:|/s/|signed",
    ),
)  # fmt: skip

TOPICS = {topic.name: topic for topic in _ALL}
PROVISIONS = (
    "renewal",
    "tax",
    "delivery",
    "acceptance",
    "liability",
    "confidentiality",
    "intellectual_property",
    "termination",
    "force_majeure",
)
"""The topics on which rules read provisions, sentence by sentence; the others have facts of their own."""

_SEARCHED = {
    "parties": "甲方 乙方 买方 卖方 以下简称 统一社会信用代码 | between… hereinafter party|a",
    "subject": "货物 产品 标的 服务内容 租赁物 | goods products services premises scope|of|work",
    "dates": "期限 有效期 生效 签订日期 届满 | effective|date term commence… expire…",
    "renewal": "续期 续约 续签 续订 续租 续展 顺延 展期 延续 延长 优先承租 | renew… extend… extension",
    "price": "总价 价款 金额 人民币 单价 租金 押金 | price fees rent us$",
    "payment": "付款 支付 预付 首付 尾款 余款 定金 质保金 结算 | pay… payment net instalment… deposit invoice",
    "tax": "含税 税率 税费 税款 税金 增值税 发票 专票 普票 代扣 | tax… vat",
    "delivery": "交付 交货 运抵 送至 运至 送达 供货 发货 到货 移交 交房 运费 风险 运输 | deliver… shipment shipped "
    "ship freight "
    "risk|of|loss incoterms f.o.b fob cif",
    "acceptance": "验收 检验 异议 视为合格 视为接受 | inspect… accept… reject…",
    "warranty": "质保期 保修期 质量保证期 质量保修期 | warranty|period warranty warranties",
    "liability": "违约金 滞纳金 罚息 赔偿 免受 损失 责任 | liab… indemnif… hold|harmless liquidated penalt… late|fee "
    "late|charge "
    "late|payment overdue past|due damages termination|fee",
    "confidentiality": "保密 商业秘密 泄露 披露 透露 | confiden… non-disclosure nondisclosure disclos… secret…",
    "intellectual_property": "知识产权 著作权 版权 专利 商标 技术成果 工作成果 研发成果 开发成果 | intellectual"
    "|property copyright… patent… "
    "trademark… work|product… for|hire title proprietary|right… invention… trade|secret… marks domain|name…",
    "termination": "解除 终止 | terminat…",
    "force_majeure": "不可抗力 | force|majeure act|of|god acts|of|god reasonable|control",
    "governing_law": "适用…法律 | governed|by laws|of",
    "disputes": "仲裁委员会 仲裁中心 人民法院 管辖 争议 | arbitration courts|of jurisdiction venue",
    "signatures": "盖章 签字 签章 签署 | in|witness|whereof by: /s/ signed",
}
"""What is looked for on each topic, Chinese before English: blanks part the words, | stands for the blanks in one."""


@cache
def searched_for(topic: str) -> tuple[str, ...]:
    """The words that are looked for on a topic, in both languages, for people to read; … stands for any ending.

    >>> searched_for("termination")
    ('解除', '终止', 'terminat…')
    """
    chinese, _, english = _SEARCHED[topic].partition(" | ")
    return tuple(word.replace("|", " ") for word in (*chinese.split(), *english.split()))


@cache
def stems_of(topic: str) -> tuple[str, ...]:
    """The same words as they stand in the text, in lower case: without the sign for any ending."""
    return tuple(word.rstrip("…") for word in searched_for(topic))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
