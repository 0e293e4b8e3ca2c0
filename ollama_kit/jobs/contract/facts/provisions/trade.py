"""What is traded: tax on the price, delivery, acceptance."""

from __future__ import annotations

from ollama_kit.jobs.contract.facts.provisions.provision_rule import PARTY, SIDE, Figure, Rule, Said

_TAX = Rule(
    "tax",
    r"(?:不|未)?(?:包含|含)[^,。;]{0,10}税|税率|增值税|(?:专用|普通)?发票[^。;]{0,20}|专票|普票"
    r"|税[费款金][^。;]{0,24}(?:承担|缴纳|负担|由)|代扣代缴"
    r"|\b(?:exclusive|inclusive|excluding|including|includes?|excludes?|exclude|net"
    r"|plus)\b[^.;]{0,50}\b(?:tax(?:es)?|vat)\b"
    r"|\b(?:shall|will|must|agrees? to|is|are)\b[^.;]{0,60}\b(?:pay|bear|responsible|withhold|liable|borne"
    r"|paid)\b[^.;]{0,100}\b(?:tax(?:es)?|vat)\b"
    r"|\b(?:tax(?:es)?|vat)\b[^.;]{0,80}\b(?:shall|will)\s(?:\w+\s)?be\s(?:paid|borne|the\sresponsibility|added"
    r"|deducted|withheld|charged)"
    r"|\bvat\b[^.;]{0,20}\d|\d\s?%\s(?:vat|sales tax)",
    (
        Said(
            "price",
            r"(?:不|未)(?:包)?含[^,。;]{0,10}税(?!的?(?:价款|价格|金额|部分|单价))|(?i:\b(?:exclusive of|excluding"
            r"|not includ\w+"
            r"|excludes?"
            r"|plus)\b[^.;]{0,50}\b(?:tax(?:es)?|vat)\b)",
            "excluded",
        ),
        Said(
            "price",
            r"(?<![不未])(?<!不包)(?:包含|已?含)[^,。;不]{0,10}税|(?i:\b(?:inclusive of"
            r"|includes)\b[^.;]{0,50}\b(?:tax(?:es)?"
            r"|vat)\b"
            r"|\b(?:price|fee|amount|sum|rent)s?\b[^.;]{0,30}\bincluding\b[^.;]{0,30}\b(?:tax(?:es)?|vat)\b)",
            "included",
        ),
        Figure(
            "rate",
            "percentages",
            before=r"税(?:率)?(?:\([^()]{0,6}\))?(?:为|是|:|按)?\s?|(?:tax|vat)\s(?:rate\s)?(?:of|at"
            r"|is)?\s?(?:the\srate\sof\s)?",
            behind=r"\s?(?:的)?(?:增值)?税|\s?的?增值税|\s(?:vat|(?:sales|value[- ]added|withholding)\stax)",
        ),
        Said("invoice", r"增值税专用发票|专用发票|专票", "special"),
        Said("invoice", r"(?:增值税)?普通发票|普票", "general"),
        Said("invoice", r"(?:开具|提供|出具)[^。;]{0,16}发票", "any", unless=r"专用|普通|专票|普票"),
        Said(
            "kind",
            r"代扣代缴|(?i:\b(?:deduct|withh[eo]ld)\b[^.;]{0,60}\btax(?:es)?\b|\bwithholding tax)",
            "withholding",
        ),
        Said("bearer", rf"(?i:\b(?:tax(?:es)?|vat)\b[^.;]{{0,120}}\b(?:paid|borne)(?: solely)? by\s)(?P<v>{PARTY})"),
        Said("bearer", rf"税[费款金][^。;]{{0,24}}由\s?(?P<v>{SIDE}(?:各自)?)"),
        Said(
            "bearer",
            rf"(?P<v>{PARTY})\s(?i:(?:shall|will|must|agrees to)\s(?:\w+\s){{0,3}}?(?:pay|bear|be (?:solely "
            rf")?responsible)[^.;]{{0,90}}\b(?:tax(?:es)?|vat)\b)",
        ),
    ),
    unless=r"\b(?:tax (?:return|year|id|identification|advice|advisor|purposes|treatment|status|authorit"
    r"|preparation|matters)|income for tax)|"
    r"发票(?:丢失|复印件)|(?:收到|凭|见|提交|出具)[^,。;]{0,12}发票[^。;]{0,16}(?:支付|付款|付清)|\binternal revenue\b",
)
_ENGLISH_GOODS = (
    r"(?:goods|products?|equipment|deliverables?|materials?|merchandise|units?|software|content"
    r"|programs?|shipments?|works?|hardware|items?)"
)
_DELIVERY = Rule(
    "delivery",
    rf"(?:应当?|须|将|负责|保证|需)[^。;]{{0,50}}(?:交付|交货|运抵|送至|运至|送达|发货|移交|供货|交房)|(?:交货|交付"
    rf"|供货|到货|发货)(?:时间|日期|期限|地点|方式"
    rf"|期)\s?(?:为|及|:|在)"
    rf"|(?:运费|运输费用?|运杂费|装卸费|保险费)[^。;]{{0,24}}由?{SIDE}\s?(?:承担|负担|支付)|(?:毁损"
    rf"|灭失)[^。;]{{0,10}}风险|风险[^。;]{{0,30}}(?:转移|承担)"
    r"|(?:于|在)[^。;]{1,30}(?:前|内)[^。;]{0,24}(?:交付|交货|运抵|送至|移交)"
    rf"|\b(?:shall|will|must|agrees? to|is to)\b[^.;]{{0,60}}\b(?:deliver|ship)\b[^.;]{{0,80}}\b{_ENGLISH_GOODS}\b"
    rf"|\b{_ENGLISH_GOODS}\b[^.;]{{0,60}}\b(?:shall|will|must)\sbe\s(?:\w+\s)?(?:delivered|shipped)|\bdeliver(?:y"
    rf"|ies)\b[^.;]{{0,60}}\bshall\s(?:be|take|occur)"
    r"|\brisk of loss\b|\bincoterms\b|\b(?:f\.?o\.?b\.?|cif|exw|ddp|dap|cfr|fca)\b[^.;]{0,40}|\b(?:freight|shipping"
    r"|transportation)\b[^.;]{0,50}\b(?:borne|paid|responsib|prepaid)"
    r"|\bdelivery (?:date|place|point)\s?(?:is|shall be|:)",
    (
        Figure(
            "date",
            "dates",
            behind=r"\s?(?:之?前|以前|交|将)",
            before=r"(?:by|before|on|no later than|on or before)\s|(?:日期|时间)\s?(?:为|:)\s?",
        ),
        Figure("period", "terms", behind=r"\s?(?:之?内|以内)|\s(?:after|of|from|following)\b", before=r"\bwithin\s"),
        Said(
            "place",
            rf"(?:运抵|送至|运至|送到|送达(?![之后时])|交付至|交货至)\s?(?:{SIDE}?指定的?(?:交货|交付|收货"
            rf"|到货)?地[点址]\s?(?::|\((?!以下|下称|简称|含|包括|或|即|具体|详见))\s?)?"
            rf"(?!{SIDE}(?:[,。;(]|\Z))(?P<v>[^,。;:()付]{{2,40}}?)(?=[,。;:()]|交(?!货地|付地)|\Z)",
        ),
        Said("place", r"(?:交货|交付|到货)地点\s?(?:为|:|在)\s?(?P<v>[^,。;]{2,40})"),
        Said(
            "place",
            r"(?i:\b(?:deliver(?:ed|y)?|ship(?:ped)?)\b[^.;]{0,80}?\b(?:to|at)\s)(?P<v>(?:(?i:the\s)?[A-Z][\w'’.-]*"
            r"|(?i:the))(?:\s(?i:of|and|the)|\s[A-Z][\w'’.-]*|\s(?i:facility|warehouse|premises|site|address"
            r"|location|designated|offices?|plant|port|store)\b){1,6})",
        ),
        Said("freight", rf"(?:运费|运输费用?|运杂费|装卸费)[^。;]{{0,24}}?由\s?(?P<v>{SIDE})"),
        Said(
            "freight",
            rf"(?i:\b(?:freight|shipping|transportation)\b[^.;]{{0,50}}\b(?:borne|paid)(?: solely)? "
            rf"by\s)(?P<v>{PARTY})",
        ),
        Said(
            "risk",
            rf"风险[^。;]{{0,40}}?(?P<v>(?:自|于)?[^,。;]{{2,24}}(?:时|起|后)[^,。;]{{0,8}}转移(?:至|给|由)?{SIDE}?)",
        ),
        Said("risk", rf"风险[^。;]{{0,16}}由\s?(?P<v>{SIDE})\s?承担"),
        Said(
            "risk",
            r"(?i:\brisk of loss\b[^.;]{0,80}?\b)(?P<v>(?i:pass|transfer|remain|shift|be "
            r"borne)\w*[^.;,]{2,60})",
        ),
        Said("term", r"\b(?P<v>(?:F\.?O\.?B\.?|CIF|EXW|DDP|DAP|CFR|FCA|CPT|CIP)\b)"),
    ),
    unless=r"(?:通知|发票|函件|文书|票据)[^。;]{0,40}(?:送达|送至|送到)|送达(?:的|书面)?(?:通知|函|文书|发票)|逾期"
    r"|迟延|延迟(?:交|发)|未能?按|违约金|通知(?:应|以"
    r"|书|自|在|按)|送达地址|发票[^。;]{0,8}(?:支付|付款)"
    r"|经营风险|市场风险|投资风险"
    r"|(?:支付|付款|付清)[^。;]{0,30}(?:%|元|款)"
    r"|\bdeliver\w*\b[^.;]{0,40}\b(?:notice|certificate|opinion|statement|invoice|consent|confidential|written|copy "
    r"of|copies)\b|\bnotices?\b[^.;]{0,60}\bdeliver",
    elsewhere=r"通知|送达|联系|\bnotices?\b|保密|\bconfiden",
)
_ACCEPTANCE = Rule(
    "acceptance",
    r"(?:应当?|须|将|有权|可以?|内)[^。;]{0,50}(?:验收|检验|提出[^。;]{0,10}异议)|视为[^。;]{0,12}(?:合格|接受|认可"
    r"|通过|验收)|验收(?:标准|期限?|方式"
    r"|时间)\s?(?:为|:|按|以|及)"
    r"|验收[^。;]{0,24}为准|以[^。;]{1,60}验收|异议期"
    r"|\b(?:shall|may|will|has|have|must)\b[^.;]{0,80}\b(?:inspect|test)\b[^.;]{0,80}\b(?:goods|products?|equipment"
    r"|deliverables?|shipment|software|materials?|works?|services)\b"
    r"|\bdeemed\s(?:to\s(?:be|have\sbeen|have)\s)?(?:\w+\s)?accept|\bdeemed\saccept|\bdeemed\s(?:to\shave\s)?rejected"
    r"|\b(?:acceptance|inspection)\s(?:period|test\w*|criteria|procedures?)\b[^.;]{0,60}\b(?:shall|will|is|are|of"
    r"|has)\b"
    r"|\b(?:accept|reject)\b[^.;]{0,60}\b(?:goods|products?|equipment|deliverables?|shipment"
    r"|works?)\b[^.;]{0,80}\bwithin\b|\bwithin\b[^.;]{0,80}\b(?:accept|reject)\b[^.;]{0,40}\b(?:goods|products?"
    r"|equipment|deliverables?|shipment|works?)\b",
    (
        Figure(
            "period",
            "terms",
            behind=r"\s?(?:之?内|以内)|\s(?:after|of|from|following)\b|\s(?:acceptance|inspection|test)",
            before=r"\bwithin\s(?:a period of\s)?|验收期限?为\s?|异议期限?为\s?|(?:have|has)\s",
        ),
        Said(
            "deemed",
            r"视为[^。;]{0,12}(?:不合格|未通过)|(?i:deemed\s(?:to\s(?:be|have been|have)\s)?rejected)",
            "rejected",
        ),
        Said(
            "deemed",
            r"视为[^。;不未]{0,12}(?:合格|接受|认可|通过|验收)|(?i:deemed\s(?:to\s(?:be|have been"
            r"|have)\s)?(?:\w+\s)?accept\w*)",
            "accepted",
        ),
        Said("standard", r"(?P<v>《[^》\n]{2,40}》|(?:国家|行业|企业|部颁)(?:现行)?标准)"),
    ),
    unless=r"支付|付款|付清|质保期|保修期|违约金|(?:合同|协议)(?:期满|届满|到期)|\b(?:books|records|audit|accountant|documents|premises)\b"
    r"|accept(?:ance|s)? (?:of"
    r"|this) (?:this )?(?:agreement|offer|terms|appointment)",
    titled=r"\bwithin\b[^.;]{0,120}\b(?:accept|reject|test|inspect)|\bdays\b[^.;]{0,80}\b(?:to|for)\s(?:test"
    r"|inspect|accept"
    r"|reject)|\breject\w*\b[^.;]{0,80}\bwithin\b",
    elsewhere=r"通知|送达|联系|\bnotices?\b",
)

TRADE = (_TAX, _DELIVERY, _ACCEPTANCE)
