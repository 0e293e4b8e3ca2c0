"""How a contract may be ended before its time, and what nobody answers for."""

from __future__ import annotations

from ollama_kit.jobs.contract.facts.provisions.provision_rule import PARTY, SIDE, Figure, Rule, Said

_END = r"(?:解除|终止)(?!之?日?[后时起])"
_FOR_CAUSE = (
    r"违约(?!金|责任)|违反|未履行|未按|逾期|迟延|破产|清算|吊销|拒绝|侵犯|(?i:\bbreach\w*|\bdefault\w*|\bfail(?:s|ure"
    r"|ed)?\b|\binsolven\w+"
    r"|\bbankrupt\w*|\bviolat\w+|\bfor cause\b|"
    r"\bmaterial(?:ly)?\b|\bdeath\b|\bdisab)"
)
_TERMINATION = Rule(
    "termination",
    rf"{SIDE}[^。;]{{0,24}}(?:有权|可以?|可随时|均可|得)[^。;]{{0,40}}{_END}|(?:有权|可以?"
    rf"|可随时)[^。;]{{0,12}}{_END}(?:本)?(?:合同|协议)"
    rf"|提前[^。;]{{0,30}}{_END}|{_END}[^。;]{{0,24}}(?:应|须|需)[^。;]{{0,6}}提前"
    r"|(?:本)?(?:合同|协议)(?:即|自动|自行|立即|提前)[^。;]{0,6}(?:终止|解除)|(?:协商一致"
    r"|书面同意)[^。;]{0,16}(?:解除|终止)|不得[^。;]{0,12}(?:单方|擅自"
    r"|提前)[^。;]{0,6}(?:解除|终止)"
    r"|\b(?:may|can|shall have the (?:right|option)|has the (?:right|option)|have the (?:right|option)|entitled"
    r"|reserves? the right|at its option)\b[^.;]{0,140}\bterminate\b"
    r"|\b(?:agreement|contract|lease|licen[sc]e|term|consultancy|engagement)\b[^.;]{0,80}\b(?:may|shall|will"
    r"|can)\s(?:\w+\s){0,2}(?:be\s)?(?:\w+\s)?terminat"
    r"|\bterminat(?:e|ed|ion)\b[^.;]{0,120}\b(?:upon|by giving|on|with|after|following)\b[^.;]{0,60}\bnotice\b"
    r"|\bnotice of termination\b[^.;]{0,60}\b(?:reason|cause)"
    r"|\bterminat(?:e|ed|ion)\b[^.;]{0,60}\b(?:for convenience|without cause|for (?:any|no) (?:or no )?reason|at "
    r"any time)",
    (
        Said(
            "who", rf"(?P<v>{SIDE})[^。;]{{0,24}}(?:有权|可以?|可随时|均可|提前)(?:(?!不得)[^。;]){{0,40}}(?:解除|终止)"
        ),
        Said(
            "who",
            r"(?!(?i:neither\b|(?:this|the)\s(?:agreement|contract|lease)\b))(?<!either )"
            rf"(?P<v>{PARTY})(?:,[^,.;]{{1,60}},)?\s(?i:(?:may"
            rf"|can|shall have the|has the|have the|is entitled|shall be entitled"
            rf"|reserves)\b[^.;]{{0,140}}\bterminate\b|gives?\b[^.;]{{0,60}}\bnotice of termination\b)",
            every=True,
        ),
        Said("who", rf"(?i:\bbe terminated\b[^.;]{{0,40}}\bby\s)(?P<v>{PARTY})"),
        Said(
            "kind",
            r"无[需须][^,。;]{0,6}理由|(?<!不得)无理由|任何理由|(?<!不得)无因"
            r"|(?i:\bfor (?:its )?convenience\b"
            r"|\bwithout (?:any "
            r")?(?:cause|reason)\b"
            r"|\b(?:for )?any (?:or no )?reason\b|\bno reason\b|\bwith or without cause\b)",
            "convenience",
            unless=r"\bno right to terminate\b|\b(?:may|can|shall) ?not terminate\b",
        ),
        Said(
            "kind",
            r"(?<!不得)随时|提前[^。;]{0,24}(?:通知)[^。;]{0,16}(?:解除|终止)|(?<!不得)提前[^。;]{0,4}(?:解除|终止)"
            r"|(?i:\bat any time\b"
            r"|\bterminate[^.;]{0,80}\b(?:upon|by giving|on|with|by)\b[^.;]{0,50}\bnotice|\bnotice of termination\b)",
            "convenience",
            unless=_FOR_CAUSE
            + r"|\bif\b|\bmutual|\bin the event\b|\bin case\b|force majeure|\bunable\b|\bmajority\b|不可抗力|协商一致"
            r"|\bno right to\b"
            + r"|\bchange (?:of|in) control\b|\bpursuant to\b|\bexercis\w+ its right\b|\bnot terminate\b",
        ),
        Said("kind", rf"(?:{_FOR_CAUSE})", "cause"),
        Said(
            "kind",
            r"(?:合同|协议)(?:即|自动|自行)[^。;]{0,6}(?:终止|解除)|(?i:\b(?:shall|will)\s(?:\w+\s)?(?:automatically"
            r"|immediately)?\s?terminate\b|\bterminates? automatically\b)",
            "automatic",
        ),
        Said(
            "kind",
            r"协商一致[^。;]{0,16}(?:解除|终止)|(?i:\bmutual(?:ly)? (?:written )?(?:agree\w*|consent)\b)",
            "agreement",
        ),
        Figure(
            "cure",
            "terms",
            behind=r"\s?(?:之?内|后)[^。;]{0,30}(?:改正|纠正|补救|整改|履行|更正|支付)|['’]?\s(?:\w+\s){0,6}(?:to "
            r"cure|cure|to remedy"
            r"|remed)",
            before=r"(?:cured?|remed\w+)\b[^.;\d]{0,30}(?:within\s)?(?:a period of\s)?|逾期超过\s?|逾期\s?",
            given=r"改正|纠正|补救|整改|履行|更正|逾期|cure|remed",
        ),
        Figure(
            "notice",
            "terms",
            before=r"提前(?:至少|不少于)?\s?",
            behind=r"\s?(?:的)?(?:书面)?通知|\s?前[^。;]{0,10}通知|['’]?\s(?:\w+\s){0,3}(?:notice|prior|advance)",
            given=r"通知|notice|notif",
        ),
    ),
    unless=r"劳动合同[^。;]{0,10}(?:员工|职工)|\bsurviv\w*|\b(?:upon|after|following|on|effects? of|event of|in "
    r"connection "
    r"with) (?:the |any |such )?"
    r"(?:(?:expiration|expiry) or )?(?:earlier |early )?termination\b(?! notice)|\bterminat\w+ (?:date )?(?:means"
    r"|is defined)|\bmay terminate (?:the )?(?:employment of any|access)"
    r"|\b(?:should|if|in the event(?: that)?)\b[^.;,]{0,60}\b(?:be|is|are)\s(?:earlier\s|sooner\s)?terminated\b"
    r"|\bnotice of (?:the |its )?(?:intent(?:ion)? (?:not )?to renew|non-?renewal)|\bterminated? (?:up)?on (?:the "
    r"|its )?expir",
)
_FORCE_MAJEURE = Rule(
    "force_majeure",
    r"不可抗力[^。;]{0,120}(?:不承担|免除|免于|免责|部分或全部|通知|证明|顺延|解除|除外|中止|协商|不视为|不构成|无法"
    r"|不能)|(?:不承担|免除|免责)[^。;]{0,40}不可抗力"
    r"|\b(?:force majeure|acts? of god|reasonable control)\b[^;]{0,300}\b(?:liab|responsib|default|breach|excus"
    r"|delay|suspen|notif|notice|terminat|exten|reliev|perform)"
    r"|\b(?:liab|responsib|default|breach|excus|delay|suspen|fail|reliev)[^;]{0,300}\b(?:force majeure|acts? of god"
    r"|reasonable control)",
    (
        Figure(
            "notice",
            "terms",
            behind=r"\s?(?:之?内|以内)|\s(?:after|of|from|following)\b",
            before=r"\bwithin\s|在\s?",
            given=r"通知|告知|书面|notif|notice",
        ),
        Said(
            "effect",
            r"不承担|免除|免于|免责|不视为违约|不构成违约|(?i:\bnot (?:be )?(?:\w+ )?(?:liab|responsib|in (?:default"
            r"|breach)"
            r"|deemed)\w*|\bneither party\b[^.;]{0,60}\b(?:liable|responsible)|\bexcus\w+|\breliev\w+)",
            "excused",
        ),
        Said(
            "notice",
            r"(?P<v>(?:及时|立即|尽快|应)[^,。;]{0,16}通知|(?i:(?:shall|will|must)\s(?:\w+\s){0,3}?(?:notify"
            r"|give[^.;]{0,30}notice)))",
            unless=r"日内|天内|小时内|\bwithin\b",
        ),
        Said("effect", r"顺延|延长|中止|(?i:\bsuspend\w*|\bextend\w*|\bextension)", "suspended"),
        Said(
            "effect", r"解除(?:本)?(?:合同|协议)|终止(?:本)?(?:合同|协议)|(?i:\bterminate (?:this|the))", "termination"
        ),
        Figure(
            "period",
            "terms",
            before=r"(?:超过|持续|达|连续)\s?|(?:more than|exceed\w*|period of|for|continu\w+(?: for)?)\s(?:a period "
            r"of\s)?(?:at least\s)?",
            behind=r"\s?以上|\s(?:or|and)\s(?:more|above|longer)",
            given=r"持续|超过|连续|continu|exceed|more|period|last",
        ),
    ),
    unless=r"\ball notices\b|\bnotices and (?:other )?communications\b",
    titled=r"(?:通知|证明|告知)[^。;]{0,30}(?:日|天|小时)|(?:日|天|小时)(?:之?内)[^。;]{0,30}(?:通知|证明|告知)"
    r"|\b(?:notif"
    r"|notice)\w*\b[^.;]{0,60}\b(?:days?|hours?)\b|\bwithin\b[^.;]{0,60}\bnotif",
)
ENDING = (
    _TERMINATION,
    _FORCE_MAJEURE,
    # In a clause on force majeure the sentence about notice often does not name it again.
    Rule(
        "force_majeure",
        r"(?!)",
        (
            Figure(
                "notice",
                "terms",
                behind=r"\s?(?:之?内|以内)|\s(?:after|of|from|following)\b",
                before=r"\bwithin\s|在\s?",
            ),
        ),
        titled=r"(?:日|天|小时)(?:之?内)[^。;]{0,30}(?:通知|证明|告知)|\bwithin\b[^.;]{0,80}\b(?:notif|notice)"
        r"|\b(?:notif"
        r"|notice)[^.;]{0,80}\bwithin\b",
        touched=("通知", "证明", "notif", "notice"),
    ),
)
