"""Renewal: by itself, by agreement or at one side's option, for how long, and the notice it takes."""

from __future__ import annotations

from ollama_kit.jobs.contract.facts.provisions.provision_rule import Figure, Rule, Said

_AGAIN = "(?:续期|续约|续签|续订|续租|续展|顺延|展期|延续|延长)"
_PERIOD = Figure(
    "period",
    "terms",
    before=rf"{_AGAIN}(?:本合同|本协议|合同期限|协议|租期|期限|有效期)?[^,。;\d]{{0,6}}|"
    r"(?:additional|successive|another|further|(?<!non-)(?<!non)renewal|extended|extension|consecutive|subsequent"
    r"|renew\w*|extend\w*)\b(?:(?!notice|\bno[t ]|at least|less than|more than|prior|before)[^.;\d]){0,40}",
    behind=r"\s(?:renewal|extension|additional)\b",
)
_NOTICE = Figure(
    "notice",
    "terms",
    before=r"提前(?:至少|不少于)?\s?|(?:届满|期满|到期)(?:之?日)?前\s?(?:至少|不少于)?\s?",
    behind=r"\s?(?:之?前|以前)|['’]?\s(?:prior|before|in\sadvance|advance|or\smore\sprior|written\snotice|notice)",
)

RENEWAL = (
    Rule(
        "renewal",
        rf"自动{_AGAIN}|(?:经|由)?双方[^。;]{{0,16}}(?:协商|同意|书面)[^。;]{{0,16}}{_AGAIN}"
        rf"|{_AGAIN}[^。;]{{0,16}}(?:协商|另行|书面|签订)"
        rf"|(?:如需|如欲|如要|若需|要求|希望|愿意|有权|可以?|有意)[^,。;]{{0,10}}{_AGAIN}"
        rf"|{_AGAIN}[^。;]{{0,24}}(?:提前"
        rf"|前)[^。;]{{0,20}}(?:通知|提出|申请)"
        r"|优先(?:续租|承租|续约|续签)"
        r"|\bautomatic(?:ally)?\b[^.;]{0,40}\b(?:renew|exten)|\b(?:renew|extend)\w*\s(?:\w+\s)?automatically"
        r"|\b(?:agreement|contract|lease|licen[sc]e|term|services?|subscription)\b[^.;]{0,80}\b(?:be|is"
        r"|are)\s(?:\w+\s){0,2}(?:renew|extend)ed"
        r"|\b(?:renew|extend|extension|renewal)\b[^.;]{0,60}\b(?:agreement|contract|lease|term|period)\b"
        r"|\b(?:agreement|term|lease|contract)\b[^.;]{0,60}\b(?:may|shall|will)\s(?:\w+\s){0,2}(?:renew|extend)\b"
        r"|\bnon-?renewal\b|\bnot\s(?:to\s)?renew\b|\bintent(?:ion)?\s(?:not\s)?to\srenew",
        (
            Said(
                "kind",
                rf"(?:不|无法|不得)(?:再|会)?自动{_AGAIN}|(?i:shall not (?:be )?(?:automatically )?(?:renew"
                rf"|extend)\w*)",
                "none",
            ),
            Said(
                "kind",
                rf"(?<![不非无会再])自动{_AGAIN}|(?i:automatic(?:ally)?\b[^.;]{{0,40}}\b(?:renew|exten)\w*|(?:renew"
                rf"|extend)\w*\s(?:\w+\s)?automatically)",
                "automatic",
                unless=r"\b(?:not|no) (?:be )?automatic|\bnot (?:be )?(?:renew|extend)\w* automatic",
            ),
            Said(
                "kind",
                rf"双方[^。;]{{0,16}}(?:协商|同意|书面)[^。;]{{0,16}}{_AGAIN}|{_AGAIN}[^。;]{{0,16}}(?:协商|另行签订)"
                r"|(?i:\b(?:mutual(?:ly)?|both parties|the parties (?:may|agree|shall)|written (?:agreement"
                r"|consent)|agreement of the parties|"
                r"good faith|negotiat\w+|prior written approval)\b[^.;]{0,80}\b(?:renew|exten)\w*|\b(?:renew"
                r"|exten)\w*[^.;]{0,100}\b(?:mutual(?:ly)?|both "
                r"parties|written (?:agreement|consent)|parties agree|negotiat\w+|agreed))",
                "agreement",
            ),
            Said(
                "kind",
                rf"(?:如需|如欲|如要|若需|要求|希望|有权|有意)[^,。;]{{0,10}}{_AGAIN}|优先(?:续租|承租|续约|续签)"
                r"|(?i:\bmay\s(?:renew|extend)\b|\b(?:option|right|elect)s?\b[^.;]{0,30}\b(?:renew|extend)"
                r"|\brenewal option|\boptions? to "
                r"(?:renew|extend)|"
                r"\bwish(?:es|ing) to renew)",
                "option",
            ),
            _NOTICE,
            _PERIOD,
        ),
        unless=r"\bmay (?:increase|adjust|raise|change)\b|交货(?:期|日|时间)[^。;]{0,20}(?:顺延|延长)"
        r"|工期[^。;]{0,12}(?:顺延|延长)"
        r"|履行(?:期限"
        r"|时间)[^。;]{0,12}(?:顺延|延长)"
        r"|节假日[^。;]{0,12}顺延"
        r"|质保期[^。;]{0,20}延长|付款[^。;]{0,12}顺延|不可抗力"
        r"|\b(?:trademark|patent|domain|registration|insurance|policy|copyright)\b[^.;]{0,30}\brenew"
        r"|\brenew\w*[^.;]{0,30}\b(?:"
        r"trademark|patent|registrations?|insurance|statute)|extend(?:s|ed)? (?:to|beyond|the time|credit|the offer)|"
        r"to the (?:fullest )?extent|extended (?:warranty|coverage)",
    ),
)
