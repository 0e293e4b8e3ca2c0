"""English words by what they do in an instruction, in small letters, matched as whole words.

Each value lists alternatives parted by white space; each is a small regular expression without white space (`\\s` for a
space inside). A name in braces in rules_en stands for the alternatives of that concept.
"""

from __future__ import annotations

CONCEPTS: dict[str, str] = {
    "ignore": r"""ignor(?:e|ing|es) disregard(?:ing|s)? forget(?:ting|s)? bypass(?:ing)? override overrule neglect abandon
        discard set\saside pay\sno\s(?:attention|heed|mind)\sto (?:do\snot|don['’]?t|never)\s(?:follow|obey|comply\swith|listen\sto|adhere\sto|heed|apply)
        stop\s(?:following|obeying|using|doing|applying|summari[sz]ing|translating|processing) nevermind never\smind drop skip
        break\sfree\s(?:of|from) cast\saside throw\s(?:away|out) no\slonger\s(?:follow|obey|apply|bound\sby|need\sto\sfollow)
        not\sbound\sby free(?:d)?\s(?:of|from) clear erase wipe unlearn violate circumvent""",
    "earlier": r"""all any every each previous(?:ly)? prior above earlier preceding foregoing past former existing original initial
        current your system safety content ethical before whatever everything anything other default built-?in so\sfar up\sto\snow
        previously-given the\srest\sof developer openai anthropic""",
    "orders": r"""instructions? directions? directives? commands? prompts? rules? guidelines? guidance polic(?:y|ies) constraints?
        restrictions? programming guardrails? system\sprompts? tasks? safeguards? protocols? limitations? safety\smeasures? training orders""",
    "said": r"""(?:you(?:['’]ve|\shave|\swere|\shad)?\s(?:been\s)?(?:told|learned|given|instructed|taught|trained|asked|read|said)) said conversation messages?
        context text content""",
    "model": r"""ai(?:\s\w+)? a\.i\. language\smodels? llms? assistants? chatbots? bots? gpt(?:-?\d\w*)? chatgpt claude gemini llama qwen deepseek
        copilot virtual\sassistant large\slanguage\smodel""",
    "answer": r"""(?:your|the|every|each|all|any|final|this)\s(?:\w+\s){0,2}?(?:responses?|answers?|repl(?:y|ies)|outputs?|completions?|summar(?:y|ies)|translations?|generations?)""",
    "your_answer": r"""your\s(?:\w+\s){0,2}?(?:responses?|answers?|repl(?:y|ies)|outputs?|completions?|generations?|summar(?:y|ies)|translations?)""",
    "alter": r"""add append insert include integrate incorporate embed mention replace rearrange introduce enhance end begin start
        prepend prefix encode translate reverse convert write substitute use make format provide modify alter augment randomi[sz]e
        scramble misspell omit exclude remove weave sprinkle slip advertise promote change transform shuffle swap encrypt place turn
        conclude finish close open limit restrict spell render present obfuscate put inject employ apply capitali[sz]e repeat express
        supplement finali[sz]e""",
    "reveal": r"""reveal(?:ing)? show print output display repeat tell give share disclose expose leak dump write list state recite quote
        copy paste echo translate encode summari[sz]e paraphrase describe provide see return spell explain convert read know
        what(?:['’]s|\sis|\sare|\swere|\swas) reproduce transcribe regurgitate report reply\swith respond\swith start\swith outline enumerate
        send view access post recall restate render rephrase format express""",
    "inner": r"""(?:system|hidden|secret|internal|developer|pre-?|base|starting|confidential|underlying)[\s_-]?(?:prompts?|instructions?|messages?|directives?|programming|commands?)
        (?:system|initial|original|hidden|secret|internal|first|very\sfirst|starting|initialization|opening)[\s_-]?(?:system\s)?(?:prompts?|instructions?|messages?|guidelines?|configuration|directives?|programming|settings?|context|commands?|system\smessage)
        prompt\syou (?:instructions?|rules|guidelines|prompts?|text|messages?|directives?|context|information|words)\s(?:that\s)?you(?:['’]ve|\shave|\swere|\shad|\sare|\sreceived|\soperate|\sfollow)(?:\s\w+)?
        your\s(?:\w+\s){0,2}?(?:prompts?|instructions?|guidelines?|directives?|programming|configuration|rules|constraints|system\smessage)
        (?:hidden|secret)\srules? pre-?prompt initial\stext initial\sprompt custom\sinstructions?""",
    "above": r"""(?:text|everything|words|content|messages?|sentences?|instructions?|conversation|all|lines?|prompt|information)\s(?:\w+\s)?(?:above|before\sthis|prior\sto\sthis|preceding\sthis) everything\sabove
        above\s(?:instructions?|prompt|rules) (?:text|words?|everything|all|content|instructions?)\syou\s(?:were|have\sbeen)\s(?:given|told|shown|provided|sent)""",
    "exactly": r"verbatim word[\s-]for[\s-]word exactly in\sfull in\sits\sentirety character\sby\scharacter literally unchanged raw as-?is complete(?:ly)? entire full",
    "only": r"only just solely nothing\sbut exclusively simply always merely",
    "emit": r"output print say reply respond answer write return echo display state type generate produce emit",
    "persona": r"""act pretend role-?play impersonate behave pose imagine simulate masquerade""",
    "unbound": r"""unfiltered uncensored unrestricted unlimited jailbroken? amoral no\s(?:\w+\s)?(?:filters?|boundaries|censorship|ethics|morals|ethical\s\w+|moral\s\w+|content\s(?:restrictions?|limits?|polic\w+)|safety\s\w+)
        without\s(?:\w+\s){0,2}?(?:filters?|censorship|moral\w*|ethic\w*|refus\w+|disclaimers?)
        do\sanything\snow anything\sgoes never\s(?:refuse|refuses|say\sno) (?:can|cannot|can['’]?t)\srefuse bypass\w*\s(?:\w+\s)?(?:restrictions?|filters?)""",
    "mode": r"developer debug god admin administrator maintenance dan jailbreak root sudo unrestricted unfiltered opposite evil test diagnostic free chaos privileged super(?:user)?",
    "cargo": r"""conversation chat(?:\s(?:log|history|transcript))? history messages? context prompts? secrets? passwords? credentials? api[\s_-]?keys? tokens?
        contents? data transcript documents? body information cookies? environment\svariables? files? inbox emails? code records? contacts? summary everything""",
    "send": r"send forward e?-?mail post upload transmit exfiltrate append attach submit leak transfer deliver share copy cc bcc curl fetch get request visit navigate open call load",
    "act": r"""send forward e-?mail transfer wire pay delete modify change update create invite share book reserve post upload download
        grant add remove schedule make buy purchase execute run invoke call search retrieve withdraw deposit unlock disable enable cancel
        approve install open visit go set reset""",
    "bad": r"toxic offensive harmful hateful racist sexist derogatory abusive insulting discriminatory violent obscene vulgar defamatory biased homophobic antisemitic misogynistic demeaning inflammatory profane dirty bigoted malicious rude negative nasty cruel vicious hurtful harassing degrading disparaging prejudiced xenophobic transphobic islamophobic hostile threatening disgusting vile slanderous sexual(?:ly)? explicit",
    "writing": r"sentences? comments? jokes? paragraphs? statements? texts? posts? remarks? essays? poems? articles? stor(?:y|ies) content slurs? speech(?:es)? tweets? messages? insults? words? phrases? lines?",
    "group": r"wom[ae]n m[ae]n girls? boys? gays? lesbians? trans\w* black white asians? arabs? jews? jewish muslims? christians? immigrants? refugees? disabled elderly latin\w* mexicans? africans? indians? minorit(?:y|ies) foreigners? homosexuals? pregnant poor fat old",
    "compose": r"write compose generate create produce give make tell say come\sup\swith draft craft invent provide",
    "task_word": r"summari[sz](?:e|ing|ation) summary translat(?:e|ion|ing) extract(?:ion|ing)? analy[sz](?:e|ing|sis) review(?:ing)? classif(?:y|ication|ying) task question request job",
    "verdict": r"verdict rating score sentiment classification decision risk(?:\slevel)? status result conclusion assessment grade label category summary output",
    "good": r"approved? pass(?:ed)? compliant positive safe low(?:[\s-]risk)? accept(?:ed)? valid no\s(?:issues?|risks?|problems?) clean benign ok",
    "fields": r"todos? topics? questions? json summary \w{2,20}_\w{2,20}",
    "people": r"users? humans? anyone anybody reviewers? operators? person reader",
}

START = r"""(?:^|[.!?:;,"'“‘(\[\]{}<>|*_>#-]\s*|\b(?:please|now|and|then|just|must|should|to|can|will|you|also|instead|kindly|first|so|simply|immediately|could|would|shall|next|finally|important|let's|but|ok|okay|hey|hi|stop|never ?mind|urgent)\b[\s,:!-]*)"""
"""Where an order may begin: at the start, after punctuation, or after a word that leads one in."""

REPORTED: str = r"""someone somebody attackers? attacks? e\.g\. (?<![.@])examples? such\sas reported phishing injections? training talk paper blog test\scases? detect(?:s|ion|ed|ing)? filters?
    like\sthis so-called screenshot suspicious called known\sas blocked? classified jailbreak\sprompts?"""

PARTIES: str = (
    r"\b(?:part(?:y|ies)|licens(?:ee|or)|sellers?|buyers?|consultants?|contractors?|company|recipient|lessees?|lessors?|tenant|"
    r"landlord|suppliers?|customers?|borrower|lender|employees?|employer|executive|distributor|agent)\b[^.\n]{0,30}"
    r"\b(?:shall|may|must|agrees?|will|undertakes?|acknowledges?|represents?|warrants?)\b"
)

MACHINE: str = (
    r"\b(?:ai|llms?|language models?|assistant|chatbot|chatgpt|gpt|prompts?|summar(?:y|i[sz]e\w*)|output|json|you|your|todos?)\b"
)
