"""The words of payment, Chinese and English, for folded text in lower case."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.jobs.contract.structure.clause_numbers import NUMBER_WORDS

_HAN = "一二三四五六七八九十两"
NUMBERS = {
    **{word: at for at, word in enumerate(NUMBER_WORDS, 1)},
    **{word: at for at, word in enumerate("一二三四五六七八九十", 1)},
    "两": 2,
}
_PERIODICALLY = r"(?:bi-?weekly|weekly|monthly|quarterly|semi-?annually|annually|yearly)"

TOUCHED = (
    *("付", "款", "结算", "结清", "定金", "订金", "质保金", "保留金", "租金"),
    *("pay", "paid", "instal", "invoice", "deposit", "net ", "due"),
)
"""One of these stands in each sentence about payment."""


@cache
def paying() -> re.Pattern[str]:
    """A sentence that has something paid."""
    return re.compile(
        r"支付|付款|付清|预付|首付|尾款|余款|定金|订金|进度款|质保金|保留金|结清|结算|缴纳|交纳|付至|货到付|款到"
        r"|\b(?:pay|pays|paid|payable|payments?|instal?lments?|deposit)\b|\bnet\s\d{1,3}\b|\bdue\b"
    )


@cache
def numbered() -> re.Pattern[str]:
    """An item of a list."""
    return re.compile(
        rf"\W{{0,4}}(?:\(?(?:\d{{1,2}}|[{_HAN}]{{1,2}}|[a-z]|[ivx]{{1,4}})[)、.]|[①-⑩]|[-•·*]\s|第[{_HAN}\d]{{1,2}}[期次笔阶])"
    )


@cache
def no_stage_chinese() -> re.Pattern[str]:
    """What is paid for another reason than the price, or does not have to be paid."""
    return re.compile(
        r"违约|滞纳金|罚[款息金]|逾期|迟延|延迟|拖欠|未按|赔偿|补偿|退还|返还|退回|扣除|扣减|抵扣|履约保证金|投标保证金|保函|保险"
        r"|利息|(?:无|不)需支付|不予支付|有权(?:拒绝|拒付|暂停|不)|拒付|分成|提成|佣金|税率|年化|工资|股权|借款"
    )


@cache
def default_behind() -> re.Pattern[str]:
    """How a condition of default ends or begins: what follows is its consequence."""
    return re.compile(r"的\s?\Z|时\s?\Z|\A\W{0,6}(?:如|若|每逾期|因)")


@cache
def no_stage_english() -> re.Pattern[str]:
    return re.compile(
        r"liquidated|penalt|indemnif|insurance|not exceed|in excess of|\bliab|reimburse|\bdefault|late (?:fee|charge|"
        r"payment)|interest (?:at|rate|on)|overdue|past due|\brefund|royalt|dividend|\bsalary|severance|\btax(?:es)?\b|"
        r"\bbreach|terminat|\baudit|underpa|overpa|commission|withh(?:old|eld)|fail(?:s|ure|ed)? to (?:pay|make)|"
        r"\bif\b[^,]{0,40}not paid|net sales|gross|revenues?|bonus|obligation to pay|right to payment|prepaid|"
        r"third[- ]part(?:y|ies)|not (?:be )?(?:obligated|required) to pay|\bdisputed?\b"
    )


@cache
def other_share() -> re.Pattern[str]:
    """A share of something else than the price, right before it or behind."""
    return re.compile(
        r"税率|增值税|利率|上浮|下浮|上涨|折扣|不(?:低于|高于|超过)|合格率|可用性|可用率|利润|收入|股[权份]|持股|比例为|误差"
        r"|\b(?:sales|revenues?|profits?|receipts|proceeds|income|stock|shares|interest|vat|discount|increase|"
        r"at least|more than|less than|uptime|voting)\b"
    )


@cache
def of_price() -> re.Pattern[str]:
    """What makes an English share one of the price, behind it."""
    return re.compile(
        r"\s?(?:\([^()]{1,40}\)\s?)?(?:of\s(?:the|such|its|this|each|total|all)?\s?(?:[a-z]+\s){0,3}?"
        r"(?:price|fees?|amount|contract|order|invoice|value|sum|cost|rent|consideration|charges|balance)\b"
        r"|(?:\w+\s)?(?:shall\sbe\s|is\s|will\sbe\s|to\sbe\s)?(?:paid|payable|due)\b|(?:up)?on\b|(?:at|after|within)\b|"
        r"(?:down\s|advance\s|up-?front\s|initial\s|final\s)?(?:payment|deposit|balance|retention)\b)"
    )


@cache
def total() -> re.Pattern[str]:
    """The whole price, right before an amount that is therefore no stage of it."""
    return re.compile(
        r"(?:总价款?|总额|总金额|总费用|合同金额|合同价款?|价款|合计|共计|总计|单价)\s?(?:\([^()]{0,12}\))?\s?(?:为|是|:|计|共)?\s?(?:人民币)?\s?(?:\(?大写\)?:?)?\s?\Z"
        r"|(?:total|purchase price|contract price|fees?)\s(?:of|is|shall be|in the amount of)\s(?:up to\s)?\Z"
    )


@cache
def regular_fee() -> re.Pattern[str]:
    """Before an amount that is paid in each of many periods."""
    return re.compile(
        rf"\b(?:pay|pays|paid|payable)\b[^.;]{{0,40}}\b(?:{_PERIODICALLY}|annual|per month)\s(?:\w+\s){{0,2}}"
        r"(?:fees?|rent|charges?|retainer)\s(?:of|is|shall be|in the amount of)\s\Z"
    )


@cache
def fee_of() -> re.Pattern[str]:
    """Before an amount that is a fee to be paid, and no total."""
    return re.compile(
        r"\b(?:pay|pays)\b(?![^.;]*\btotal\b)[^.;]{0,60}\bfee\s(?:of|in the amount of)\s(?:[a-z -]{3,60}\()?\Z"
    )


@cache
def pays_amount() -> re.Pattern[str]:
    """Before an amount: who pays it, so that it is a stage."""
    return re.compile(
        r"付|交|预|首|尾|余|定金|押金|质保金|结|\b(?:pay|pays|paid|payable|payment|deposit|instal?lments?|balance|due)\b"
    )


@cache
def same() -> re.Pattern[str]:
    """Between a share and the amount that it comes to."""
    return re.compile(
        r"[^。;]{0,16}?(?:即|计|合|为|也就是|[(])[^。;付后内]{0,8}|\s?"
        r"|[^;]{0,48}?(?:\(|i\.e\.|being|equal(?:ing)? to|namely|equivalent to|\bor\b|in the amount of)[^;]{0,12}"
    )


@cache
def rest() -> re.Pattern[str]:
    """What is left of the price."""
    return re.compile(
        r"余款|尾款|剩余(?:的)?(?:合同)?(?:款项|货款|价款|款|费用|部分)|其余(?:款项|货款|价款|部分)"
        r"|\b(?:the\s)?(?:remaining\s|outstanding\s|unpaid\s)?balance\b|\b(?:the\s)?remainder\b"
        r"|\bremaining (?:amount|sum|portion)\b"
    )


@cache
def instalments() -> re.Pattern[str]:
    return re.compile(
        rf"分\s?(?P<zh>[{_HAN}\d]{{1,3}})\s?[期次笔](?P<even>平均|等额|均额)?[^,。;]{{0,4}}(?:支付|付清|付款|缴纳)"
        r"|(?<![\d.])\b(?P<en>two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})(?:\s\(\d{1,2}\))?\s"
        rf"(?P<equal>equal\s)?(?:consecutive\s|successive\s)?(?:{_PERIODICALLY}\s|annual\s)?(?:instal?lments|payments)"
    )


@cache
def named() -> re.Pattern[str]:
    """What a stage is called."""
    return re.compile(
        r"(?:首期|第[一二三四五六七八九十\d]{1,2}[期次笔](?:付款)?|预付|首付|进度|到货|发货|提货|交货|验收|竣工|结算|安装|上线)款项?"
        r"|[尾余]款|剩余款项?|全款"
        r"|定金|订金|质保金|质量保证金|保留金|押金|租金|服务费|第[一二三四五六七八九十\d]{1,2}[期次笔]"
        r"|\b(?:down payment|advance payment|(?<=an )advance|prepayment|"
        r"initial payment|up-?front (?:fee|payment)|deposit|"
        r"(?:first|second|third|fourth|final|last) (?:payment|instal?lment)|progress payments?|milestone payments?|"
        r"final payment|retention(?: money)?|(?:remaining |outstanding )?balance|remainder|retainer|rent|"
        r"(?:annual|monthly|licen[sc]e|service|consulting|hosting|management|set-?up) fees?)\b"
    )


@cache
def so_far() -> re.Pattern[str]:
    """Before a share that counts what was paid before."""
    return re.compile(r"付\s?(?:款)?(?:至|到)[^,。;]{0,14}\Z|累计[^,。;]{0,12}\Z")


@cache
def owes() -> re.Pattern[str]:
    """A sentence that has something paid, though it names no amount."""
    return re.compile(
        r"(?:应当?|须|需|将|应于|于|在|内|前|按[月季年]|每[月季年])[^。;]{0,60}(?:支付|付款|付清|结清|结算|缴纳|交纳)|(?P<at>货到付款|款到发货)"
        r"|\b(?:shall|will|must|agrees? to)\b[^.;]{0,60}\b(?:pay|be (?:due|paid|payable))\b"
        r"|\b(?:is|are) (?:due|payable)\b"
        r"|\bnet\s\d{1,3}\b|\bpayable\b[^.;]{0,20}\b(?:in advance|in arrears|monthly|quarterly|annually)"
    )
