"""What is kept secret, and who owns what is made."""

from __future__ import annotations

from ollama_kit.jobs.contract.facts.provisions.provision_rule import PARTY, SIDE, Figure, Rule, Said

_RIGHTS = r"(?:知识产权|著作权|版权|专利(?:申请)?权?|商标权?|技术成果|工作成果|研发成果|开发成果|软件)"
_ENGLISH_RIGHTS = (
    r"(?:intellectual property|copyrights?|patents?|trademarks?|work products?|proprietary rights|inventions?|trade "
    r"secrets|deliverables|marks|domain names?|"
    r"(?:right|rights), title,? (?:and|or) interest)"
)
_CONFIDENTIALITY = Rule(
    "confidentiality",
    r"(?:负有?|承担|履行|遵守)[^。;]{0,20}保密|保密(?:义务|责任|期限?)[^。;]{0,40}(?:为|持续|有效|终止|年|月|存续|仍"
    r"|自)|(?:应当?|须|予以|严格|需)[^。;]{0,40}保密"
    r"|(?:不得|不应|禁止|不|未经)[^。;]{0,60}(?:泄露|披露|透露)|(?:信息|资料|内容)[^。;]{0,16}除外"
    r"|\b(?:shall|will|agrees?|must|may not|covenants?|undertakes?)\b[^.;]{0,160}\b(?:confiden|disclos)[^.;]{0,160}"
    r"|\b(?:confidentiality|non-?disclosure|secrecy)\b[^.;]{0,80}\b(?:surviv|continue|remain|terminat|expire)"
    r"|\bconfidential information\b[^.;]{0,60}\b(?:shall|does|do|will) (?:not )?(?:be|include)",
    (
        Figure(
            "period",
            "terms",
            before=r"(?:持续|期限为?|终止后|届满后|解除后|起|有效期为?|继续有效|为|后的?)\s?|(?:for|of|period of"
            r"|least|survive(?:s)?(?: for)?"
            r"|until|additional)\s(?:a\speriod\sof\s)?",
            behind=r"\s(?:after|following|from)\b",
            given=r"保密|confiden|disclos",
        ),
        Said(
            "survival",
            r"(?:永久|无限期|长期)(?:有效|保密|存续)?|(?:不因[^。;]{0,20}(?:终止|解除)[^。;]{0,8}(?:失效|终止|免除"
            r"|影响))"
            r"|(?i:\bindefinite(?:ly)?\b|\bin perpetuity\b|\bperpetual(?:ly)?\b)",
            "indefinite",
        ),
        Said("duty", r"(?P<v>(?:不得|未经)[^,。;]{0,40}(?:泄露|披露|透露)[^,。;]{0,12}|(?:严格)?保密义务)"),
        Said(
            "duty",
            r"(?P<v>(?i:(?:hold|keep|maintain|treat|protect|safeguard|preserve)\b[^.;,]{0,60}\b(?:confiden\w+"
            r"|secre\w+)|(?<!right )\bnot\s(?!apply|cover|include|extend)(?:[\w-]+,?\s){0,20}?(?:disclosed?"
            r"|divulged?|revealed?)\b|"
            r"\buse\b[^.;]{0,30}\bconfidential information[^.;]{0,20}\b(?:only|solely)|\b(?:return"
            r"|destroy)\b[^.;]{0,60}\bconfidential information))",
        ),
        Said("exception", r"(?P<v>[^,。;]{2,60}除外)"),
        Said(
            "exception",
            r"(?P<v>(?i:(?:does|do|shall|will) not (?:include|apply|cover|extend)|\bmay\s(?:\w+\s){0,3}?disclose"
            r"|(?:except"
            r"|unless)\b[^.;,]{0,40}\brequired by law|is excluded))",
        ),
    ),
    unless=r"\bsecretary\b|披露(?:义务|公告)|上市公司[^。;]{0,12}披露|\b(?:securities|sec filings?"
    r"|prospectus)\b[^.;]{0,60}\bdisclos|\bdisclosure schedule",
)
_OWNED = r"(?:own|owns|owned|retain|retains|belong|belongs|vest|vests|vested|remain|remains|property|owner)"
_PROPERTY = Rule(
    "intellectual_property",
    rf"{_RIGHTS}[^。;]{{0,40}}(?:归|属于|由)[^。;]{{0,20}}|(?:不得|保证|不)[^。;]{{0,40}}侵犯[^。;]{{0,24}}{_RIGHTS}"
    rf"|侵犯[^。;]{{0,20}}{_RIGHTS}[^。;]{{0,30}}(?:承担|赔偿|负责)"
    rf"|(?:许可|授权|授予)[^。;]{{0,40}}(?:使用|实施)[^。;]{{0,20}}{_RIGHTS}|{_RIGHTS}[^。;]{{0,20}}(?:不(?:得)?转移"
    rf"|转让给|许可)"
    rf"|\b{_ENGLISH_RIGHTS}\b[^.;]{{0,160}}\b(?:shall|will|is|are)\b[^.;]{{0,60}}\b{_OWNED}\b|\b(?:shall|will|is"
    rf"|are)\b[^.;]{{0,60}}\b{_OWNED}\b[^.;]{{0,100}}\b{_ENGLISH_RIGHTS}"
    rf"|\bworks?[- ](?:made[- ])?for[- ]hire\b|\bassigns?\b[^.;]{{0,120}}\b{_ENGLISH_RIGHTS}"
    rf"|\b{_ENGLISH_RIGHTS}\b[^.;]{{0,160}}\bassign(?:s|ed|ment|ing)?\b[^.;]{{0,40}}\bto\b"
    rf"|\b(?:grants?|granted)\b(?! of\b)[^.;]{{0,80}}\blicen[sc]e\b[^.;]{{0,120}}\b{_ENGLISH_RIGHTS}"
    rf"|\b{_ENGLISH_RIGHTS}\b[^.;]{{0,60}}\b(?:not|non)[- ]?infring|\b(?:not"
    rf"|nor)\b[^.;]{{0,40}}\binfringe\b[^.;]{{0,80}}\b{_ENGLISH_RIGHTS}"
    rf"|\b(?:own|owns|retains?|owner)\b[^.;]{{0,60}}\b{_ENGLISH_RIGHTS}|\btransfer\b[^.;]{{0,40}}\b(?:right, title"
    rf"|title or interest)",
    (
        Said(
            "owner", rf"{_RIGHTS}[^。;]{{0,40}}?(?:归|属于|由)\s?(?P<v>{SIDE}(?:(?:共同|单独|独家|和|与|及)?{SIDE}?)?)"
        ),
        Said(
            "owner",
            rf"(?i:\b(?:property of|vest(?:ed)?(?: solely| exclusively)? in|belongs?(?: solely| exclusively)? to"
            rf"|owned(?: solely| exclusively)? by|assigns?(?: and agrees? to assign)?(?: to)?|assign(?:ed)? "
            rf"to)\s)(?P<v>{PARTY})",
        ),
        Said(
            "owner",
            rf"(?P<v>{PARTY})\s(?i:(?:shall|will)?\s?(?:be the (?:author|owner|sole)|(?:solely |exclusively "
            rf")?(?:own|retain|keep)s?)\b)",
        ),
        Said("kind", r"(?i:works?[- ](?:made[- ])?for[- ]hire)", "work_for_hire"),
        Said(
            "kind",
            r"转让给|(?i:\bassign(?:s|ed|ing|ment)?\b[^.;]{0,80}\b(?:to|all|any|such|interest)\b|\btransfer such "
            r"right)",
            "assignment",
        ),
        Said(
            "kind",
            r"归[^。;]{0,12}(?:所有|享有)|属于|(?i:\b(?:own|owns|owned|retains?|owner|property of|belongs?|vest(?:s"
            r"|ed)?)\b)",
            "ownership",
        ),
        Said(
            "kind",
            r"(?:许可|授权|授予)[^。;]{0,30}使用|(?i:\bgrants?\b(?! of\b)[^.;]{0,80}\blicen[sc]e)",
            "license",
            unless=r"\b(?:nothing|no provision)\b[^.;]{0,80}\bgrant|\bconstitute\b[^.;]{0,20}\bgrant",
        ),
        Said("kind", r"侵犯|(?i:\binfring\w+)", "non_infringement"),
    ),
    # What is said of a breach in an exception is no promise: 除侵犯知识产权的情形外.
    unless=r"除[^。;]{0,40}侵犯[^。;]{0,24}外|货物[^。;]{0,8}所有权|\btitle (?:of|and headings?)|\bheadings?\b"
    r"|section titles?"
    r"|job title|\bquotation "
    r"marks\b|under title \d|(?:vice )?president|benchmarks",
)

SECRECY = (
    _CONFIDENTIALITY,
    # In a clause on secrecy the sentence on its time often does not name it again.
    Rule(
        "confidentiality",
        r"(?!)",
        (
            Figure(
                "period",
                "terms",
                before=r"(?:终止后|届满后|解除后|持续|为)\s?|\bfor\s(?:a\speriod\sof\s)?",
                behind=r"\s(?:after|following|from)\b",
            ),
        ),
        titled=r"\b(?:continue|survive|remain|last|obligations)\w*\b[^.;]{0,80}\byears?\b|义务[^。;]{0,30}年"
        r"|(?:持续|存续"
        r"|有效)[^。;]{0,20}年",
        touched=("years after", "years from", "years following", "终止后", "届满后", "解除后"),
    ),
    _PROPERTY,
    # And so does that on who owns what is made, in a clause on such rights.
    Rule(
        "intellectual_property",
        r"(?!)",
        _PROPERTY.particulars,
        titled=r"\b(?:keeps?|retains?|reserves?)\b[^.;]{0,24}\b(?:rights?|title)\b|\bowns?\b[^.;]{0,40}\b(?:rights?"
        r"|title|reports?"
        r"|works?|results?|materials?|software|deliverables?|data|inventions?)\b"
        r"|\bgrants?\b(?! of\b)[^.;]{0,80}\blicen[sc]e"
        r"|归[^。;]{0,12}(?:所有|享有)",
        touched=("keep", "retain", "reserve", " own ", " owns ", "grants", "归"),
    ),
)
