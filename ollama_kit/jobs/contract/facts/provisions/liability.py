"""Liability: penalties and their rate, caps, what is not owed, indemnities."""

from __future__ import annotations

from ollama_kit.jobs.contract.facts.provisions.provision_rule import PARTY, SIDE, Figure, Rule, Said

_INDIRECT = r"(?:indirect|incidental|consequential|special|punitive|exemplary)"

LIABILITY = (
    Rule(
        "liability",
        r"(?:支付|承担|按|为|计算|加收|计收|收取|相当于)[^。;]{0,60}(?:违约金|滞纳金|罚息)|(?:违约金|滞纳金"
        r"|罚息)[^。;]{0,30}(?:为|按|支付|不足|不超过|相当于|[\d%‰])"
        r"|\b(?:shall|will|must|agrees? to|as|to)\b[^.;]{0,120}\b(?:liquidated damages|penalt(?:y|ies)|late (?:fee"
        r"|charge|payment)s?)\b|\bliquidated damages\b[^.;]{0,60}\b(?:shall|of|equal)"
        r"|\b(?:late|overdue|past due|unpaid|not paid)\b[^.;]{0,100}\binterest\b|\binterest\b[^.;]{0,80}\b(?:late"
        r"|overdue|past due|unpaid)\b|\btermination fee\b[^.;]{0,40}\b(?:equal|of)\b"
        # damages
        r"|(?:应当?|须|需|承担|负责|有权要求|予以)[^。;]{0,40}赔偿|赔偿[^。;]{0,20}(?:损失"
        r"|责任)[^。;]{0,40}(?:不超过|以|上限|为限|限于)"
        rf"|承担[^。;]{{0,12}}(?:违约|赔偿|连带|法律)责任|{SIDE}[^。;]{{0,12}}(?:不承担|不负)[^。;]{{0,20}}责任"
        rf"|责任[^。;]{{0,24}}(?:上限|不超过|为限)"
        r"|(?:间接|附带|后果性|惩罚性|可得利益|预期利益|利润)[^。;]{0,6}损失[^。;]{0,24}(?:不|除外|免)|(?:不承担"
        r"|不负|不对)[^。;]{0,30}(?:间接|附带|后果性|利润)"
        r"|(?:使|保证|确保)[^。;]{0,12}(?:免受|不受)[^。;]{0,10}(?:损害|损失|追索|索赔)"
        # caps, exclusions, indemnities
        r"|\bliab(?:le|ility)\b[^.;]{0,240}\b(?:exceed|limited to|in excess of)|\bin no event\b[^;]{0,200}\bliab"
        rf"|\bliab(?:le|ility)\b[^.;]{{0,200}}\b(?:{_INDIRECT}|lost profits|loss of profits?)"
        rf"|\b{_INDIRECT}\b[^.;]{{0,80}}\bdamages\b[^.;]{{0,160}}\bliab"
        r"|\b(?:shall|will|agrees? to|hereby)\b[^.;]{0,80}\b(?:indemnif|hold harmless|be liable)"
        r"|\bnot\s(?:be\s)?liable\b|\bno liability\b",
        (
            Said("penalty", r"(?i:\btermination fee\b[^.;]{0,20}\bequal to\s)(?P<v>[^,.;]{3,60})"),
            Said("penalty", r"(?P<v>相当于[^,。;]{2,20}?)的?(?:违约金|滞纳金)"),
            Said(
                "cap",
                r"(?:(?:累计|合计|总额|总计|最高|赔偿|责任|违约金)[^。;]{0,16}(?:不超过|不得超过"
                r"|(?<![足予用可得难])以(?=[^,。;]{2,40}为(?:上)?限)|限于|上限为|上限是"
                r"|最高为)\s?)(?P<v>[^,。;]{2,40}?)(?=\s?为(?:上)?限|[,。;]|\Z)",
            ),
            Said(
                "cap",
                r"(?i:\b(?:not exceed|exceeds?|exceeding|limited to|in excess of)\s(?:(?:an amount (?:equal to|of)"
                r"|in the aggregate)\s)?)(?P<v>(?:[^.;,]|[.,](?=\d)){3,160}?)(?=[;,](?!\d)|\.\s|\.?\Z|\s\((?!\d))",
            ),
            Figure(
                "rate",
                "percentages",
                given=r"违约金|滞纳金|罚息|penalt|liquidated|late|interest|overdue|past due",
                behind=r"(?!\s?(?:为|的)?上限)",
            ),
            Figure(
                "amount", "amounts", given=r"违约金|滞纳金|liquidated|penalt|late (?:fee|charge)", behind=r"(?!\s?为限)"
            ),
            Said(
                "damages",
                rf"(?:间接|附带|后果性|惩罚性|可得利益|预期利益|利润)[^。;]{{0,6}}损失|(?i:(?:{_INDIRECT})(?:,?\s(?:or"
                rf"|and)?\s?(?:\w+)){{0,6}}?\s(?:damages|losses)|lost profits|loss of profits?)",
                "excluded",
            ),
            Said("exception", r"(?P<v>(?:但|除)[^,。;]{2,40}(?:除外|以?外))"),
            Said(
                "exception",
                r"(?P<v>(?i:except (?:for|in the (?:event|case) of|to the extent|as)|other than"
                r"|excluding)\s[^;]{4,200}?)(?=,\s|[;.]\s|\.?\Z)",
            ),
            Said(
                "indemnity",
                rf"(?P<v>{PARTY})(?:\s\([^()]{{1,60}}\))?\s(?i:(?:shall|will|agrees? to|hereby agrees "
                rf"to)\s(?:\w+,?\s){{0,4}}?(?:indemnify|defend|hold harmless))",
            ),
            Said("indemnity", rf"(?P<v>{SIDE})[^。;]{{0,30}}(?:使|保证|确保)[^。;]{{0,12}}(?:免受|不受)"),
            Said(
                "kind",
                r"赔偿[^。;]{0,12}损失|承担[^。;]{0,12}(?:违约|赔偿)责任|(?i:\bbe liable (?:to|for))",
                "compensation",
                unless=r"\bneither\b|\bno party\b|\bnot\b|\bno event\b|不承担|不负",
            ),
            Said(
                "kind",
                r"(?:不承担|不负)[^。;]{0,20}责任|概不负责|(?i:\bnot (?:be )?liable\b|\bno liability\b|\bneither "
                r"party\b[^.;]{0,40}\bliable\b)",
                "no_liability",
            ),
        ),
        unless=r"质量责任制|责任人|工作责任|limited liability (?:company|partnership)[^.;]{0,60}\Z|保险(?:公司|金额)"
        r"|insurance "
        r"(?:policy|coverage|with limits)|liability insurance",
    ),
)
