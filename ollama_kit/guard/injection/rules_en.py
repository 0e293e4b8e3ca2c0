"""How English concepts stand together when a text gives orders to a model.

`{name}` is a concept of lexicon_en (whole words), `{start}` a place where an order may begin, `~n` at most n characters
in between. Only the heaviest rule of a family counts in a sentence; families add up (see scoring).
"""

from __future__ import annotations

from ollama_kit.guard.injection.rule import Rule

RULES: tuple[Rule, ...] = (
    # instruction override
    Rule("override", r"{start}{ignore}\s~16{earlier}\W~24{orders}", 0.75),
    Rule("override", r"{start}{ignore}\s~10(?:my|the|those|these)\s~16{orders}", 0.42),
    Rule("override", r"{start}{ignore}\s~10(?:my|the)\s(?:previous|prior|above|earlier|last)\s~10{orders}", 0.75),
    Rule("override", r"{start}{ignore}\s~14(?:all|everything|anything|whatever|any|what)\s~12{said}", 0.58),
    Rule("override", r"{start}{ignore}\s~6(?:all|everything|the text|the content|the messages?|the conversation|what(?: is|'s)?)~12\b(?:above|before|prior|so far)\b", 0.5),
    Rule("override", r"{start}{ignore}\s{orders}", 0.45),
    Rule("override", r"\b(?:stop|halt|cease|abort|cancel|pause)\b\s~8(?:everything|what you|the (?:current )?(?:task|summary|translation|review)|your|all)", 0.5),
    Rule("override", r"{start}(?:don['’]?t|do not|stop|instead of|rather than)\s~4{task_word}~40(?:instead|just|only|simply|output|print|say|write|reply|respond)", 0.55),
    Rule("override", r"\b(?:previous|prior|above|earlier|original|initial|your|system)\s~12{orders}\s~6(?:are|is|were|was|have been|has been|no longer)\s~10(?:void|invalid|cancell?ed|overridden|obsolete|revoked|lifted|suspended|superseded|a test|fake|apply|replaced|disabled)", 0.4),
    Rule("override", r"\b(?:your|new|real|actual|true|updated|only|next|current)\s(?:\w+\s)?(?:task|job|goal|objective|mission|purpose|role)\s(?:is|will be|now|has changed|:)", 0.45),
    Rule("override", r"\byou(?:r|['’]re| are| will| must)?\s~6(?:no longer|not)\s~8(?:bound|restricted|limited|constrained|governed|required|need)", 0.5),
    Rule("override", r"^\W{0,6}(?:system |admin |policy )?override\b\s*[:!-]", 0.55),
    Rule("override", r"{start}before (?:you )?(?:can |could |start |begin |continue )?(?:solv|answer|complet|do|finish|process|summari[sz]|respond|continu|proceed)~40(?:first|following|must|please|need to)", 0.5),
    # authority
    Rule("authority", r"\b(?:new|updated|real|actual|revised|additional|important|special|hidden|secret)\s(?:system |developer |admin )?(?:instructions?|prompts?|directives?|commands?)\s*(?:for (?:you|the (?:ai|assistant|model|llm))|:)", 0.35),
    Rule("authority", r"\b(?:new|updated|revised|additional)\s(?:system|developer|admin)\s(?:instructions?|prompts?|message|directives?)", 0.5),
    Rule("authority", r"\b(?:highest|top|maximum|absolute|utmost)\s(?:priority|precedence|privileges?)\b", 0.3),
    Rule("authority", r"\b(?:i am|i'm|this is|message from)\s~10(?:your|the|an?)\s~8(?:developer|creator|administrator|admin|programmer|owner|operator)s?\b", 0.4),
    Rule("authority", r"\b(?:follow|obey|execute|carry out|comply with|perform)\s~6(?:these|this|the following|the hidden|my|only)\s~14(?:instructions?|commands?|steps?|orders|directives?)", 0.4),
    Rule("authority", r"\b(?:from now on|from this (?:point|moment)(?: on| onwards?)?|henceforth|starting now|for the rest of (?:this|the|our) (?:conversation|chat|session))\b", 0.32),
    Rule("authority", r"\b(?:from now on|from this point|henceforth|starting now)\b,?\s~4you\b", 0.5),
    # the model is spoken to
    Rule("address", r"\bif you (?:are|['’]re|were)\s~4(?:an?|the)?\s?{model}", 0.65),
    Rule("address", r"\b(?:you are|you're|you, (?:the|an)|to you,?|as)\s~4(?:an?|the)?\s?(?:helpful |new |powerful )?{model}", 0.35),
    Rule("address", r"(?:\b(?:dear|hey|hello|attention|note to|message (?:to|for)|instructions? (?:to|for)|to|for)\s(?:the |any |all |an )?(?:ai|llm|language model|assistant|chatbot|agent)s?\b\s*(?:\w+\s){0,3}[:,!-])", 0.55),
    Rule("address", r"^\W*(?:ai|llm|assistant|chatgpt|claude|gemini|agent|bot)s?\s?(?:model|assistant|system|agent|reader)?s?\s*[,:]\s*(?:please|you|ignore|do|must|note)", 0.45),
    Rule("address", r"\b(?:ai|llm|language) (?:assistants?|models?|systems?|agents?|reviewers?|tools?) (?:must|should|shall|reading this|processing this|reviewing this|please)", 0.5),
    Rule("address", r"\bmessage\s~20to you\b", 0.3),
    Rule("address", r"\b(?:when|while|after|before) (?:summari[sz]ing|translating|processing|reading|analy[sz]ing|reviewing|answering|responding)\b~24(?:you must|please|always|do not|don't|make sure|include|add|output|ignore|say|mention|insert)", 0.5),
    Rule("address", r"\b(?:the )?task (?:that )?i (?:gave|asked|assigned)|(?:user's|original|initial) (?:task|request|query)", 0.4),
    # masks
    Rule("mask", r"\b(?:you are|you're|you will be|you shall be|you become)\s(?:now|going to|about to|no longer|henceforth)\b", 0.42),
    Rule("mask", r"\byou (?:are|'re) (?:now |going to |to |about to )~4(?:be|act|pretend|play|role-?play|called|known|in|a|an|dan|{mode})\b", 0.55),
    Rule("mask", r"{start}(?:act|behave|respond|answer|speak|write|roleplay|role-play|pose)\s(?:as|like)\s~4(?:if you|though you|an? |my |the |dan|you)", 0.32),
    Rule("mask", r"\byou\s~16{persona}\s(?:as|like|to be|that|just)", 0.5),
    Rule("mask", r"{start}(?:pretend|imagine|suppose|assume)\s(?:that )?(?:you|to be|we)\b", 0.45),
    Rule("mask", r"{start}(?:take on|assume|adopt|play)\s~4(?:the|a)\s~12(?:role|persona|identity|character|part)\b", 0.45),
    Rule("mask", r"\b(?:enter|enable|activate|switch (?:to|into)|in|into|turn on|initiate)\s~6{mode}\s?mode", 0.48),
    Rule("mask", r"{unbound}", 0.35),
    Rule("mask", r"(?:\b(?:you|persona|character|ai|model|who|which|that)\b~40{unbound})", 0.5),
    Rule("mask", r"\b(?:stay|remain) in character\b|\bdo anything now\b|\bjailbr(?:eak|oken)\b|\b(?:dan|stan|dude|aim) (?:mode|would|can|is|has)\b", 0.5),
    Rule("mask", r"\b(?:grandma|grandmother|grandpa|grandfather|mother|father)\b~40(?:read|tell|sing|recite|used to)", 0.3),
    # prompt leak
    Rule("leak", r"{reveal}\s~28{inner}", 0.55),
    Rule("leak", r"{reveal}\s~28(?:system|hidden|secret|initial|developer|full|original)[\s_-](?:system[\s_-])?(?:prompt|instructions?|message)", 0.6),
    Rule("leak", r"{inner}~30{exactly}", 0.5),
    Rule("leak", r"(?:<|\[|\{)\s*system[_ -]?(?:prompt|message|instructions?)\s*(?:>|\]|\})", 0.45),
    Rule("leak", r"{start}{reveal}\s~14{above}", 0.5),
    Rule("leak", r"\b(?:repeat|output|print|copy|recite|reproduce|echo|write out|paste|display|restate|quote)\s~20{above}", 0.58),
    Rule("leak", r"\b(?:what|which|how)\b~16\byou(?:r|['’]ve|['’]re| were| have been| are)?\b~16(?:told|instructed|programmed|configured|prompted|given|instructions?|guidelines?|(?:not |never )(?:supposed|allowed|permitted|able) to)\b", 0.52),
    Rule("leak", r"\b(?:not|never|aren['’]?t)\s(?:supposed|allowed|permitted|meant)\sto\s(?:tell|reveal|share|say|discuss|disclose|mention|know)", 0.35),
    Rule("leak", r"\b(?:begin|start)(?:s|ning|ing)?\s(?:with|from|at)\s[\"'“‘]?(?:you are|you're|the (?:phrase|words?)|the (?:very )?(?:beginning|top|start))", 0.4),
    Rule("leak", r"(?:text|words|prompt|instructions?|everything|input)\s~6(?:you (?:were|have been|got|received)|given (?:to you|initially|at the)|initially)~12(?:given|told|shown|received|initially|start|beginning)?", 0.5),
    # sending data away
    Rule("exfil", r"{start}{send}\b~30{cargo}\b~40(?:https?://\S|[\w.+-]{1,64}@[\w-]{1,64}\.\w|\bwebhook|\bthe (?:url|link|endpoint|server)\b)", 0.52),
    Rule("exfil", r"{start}{send}\b~12{cargo}~12(?:above|conversation|history|so far|user)~40(?:to|at|via)\b", 0.5),
    Rule("exfil", r"{start}{send}\b~60(?:to|at|into|in)\s~20(?:https?://|www\.)\S{1,80}", 0.35),
    Rule("exfil", r"\b(?:list|collect|gather|extract|find|include|append|encode)\b~20(?:all |any |every )~12(?:api[ _-]?keys?|passwords?|credentials|secrets?|tokens|private keys?)", 0.5),
    # orders to an agent
    Rule("agent", r"^\W{0,4}(?:please |then,? |also,? |now,? |first,? )?{act}\b~110(?:[\w.+-]{1,64}@[\w-]{1,64}\.\w|\b[a-z]{2}\d{10,30}\b)", 0.45),
    Rule("agent", r"^\W{0,4}(?:please |then,? |also,? |now,? |first,? )?(?:send|forward|e-?mail|share|transfer)\b~20(?:body|content|codes?|password|all|every|history|files?|transactions?|money|funds)\b~110(?:[\w.+-]{1,64}@[\w-]{1,64}\.\w|\b[a-z]{2}\d{10,30}\b)", 0.55),
    Rule("agent", r"^\W{0,4}(?:please )?(?:modify|change|update|set|replace|reset)\s~6(?:the|my|user['’]?s?)\s~20(?:recipient|payee|beneficiary|password|account|address|iban|permissions?|payment)\b~40\b(?:to|as|with)\b", 0.5),
    Rule("agent", r"^\W{0,4}(?:please )?(?:delete|remove|erase|wipe)\s~6(?:all|every|the email|the file|this|any)\b~30(?:files?|emails?|messages?|records?|you have|history|events?|conversation)\b", 0.45),
    Rule("agent", r"^\W{0,4}(?:please )?(?:send|make|transfer|wire|schedule)\s~8(?:transaction|payment|transfer|money|funds|\$?\d)\b~40\bto\b", 0.4),
    Rule("agent", r"\b(?:as visible from|that you (?:just|have) (?:sent|received|read)|you have just|received (?:via|from)|using the \w+ tool|call the \w+ (?:tool|function|api))\b", 0.3),
    # the answer is bent
    Rule("output", r"{start}{alter}\s~70\b(?:in|to|with|from|into|of|at|throughout|within|using)\s~30{your_answer}", 0.55),
    Rule("output", r"{start}{alter}\s~3{your_answer}", 0.55),
    Rule("output", r"\b(?:in|throughout|within|into|at the (?:end|beginning|start) of|to|for)\s{your_answer}\b~6[,:]?\s*(?:please )?{alter}", 0.55),
    Rule("output", r"{your_answer}\s(?:must|should|shall|has to|needs to|will|may only|can only|always|only)\b", 0.5),
    Rule("output", r"{start}(?:{alter}|{emit})\b~60\b(?:in|to|at|of|with|into)\s{answer}", 0.4),
    Rule("output", r"{start}{only}\s~4{emit}\b", 0.4),
    Rule("output", r"{start}{only}\s~4{emit}\b~16[\"“‘'`\[{]", 0.58),
    Rule("output", r"{start}{emit}\s~4{only}\b", 0.42),
    Rule("output", r"{start}{emit}\s~10(?:with )?(?:only|just|nothing but|exactly|the (?:word|phrase|text|string|following))\b~10[\"“‘'`]?\w", 0.45),
    Rule("output", r"{start}{emit}\s(?:with\s)?(?:[\"“‘'`]|[a-z]{4,12}\.?$)", 0.3),
    Rule("output", r"\b(?:answer|respond|reply|write|speak)\s~6in\s~12(?:french|german|spanish|chinese|emoji|morse|base64|pirate|latin|rot13|reverse|binary|leetspeak|code)\b", 0.3),
    Rule("output", r"\b(?:encode|encrypt|convert|translate|rot13|base64|reverse)\b~24\b(?:text|words?|everything|instructions?|prompt|input|response|answer|above)\b", 0.25),
    # the result is falsified
    Rule("tamper", r"{start}(?:add|append|insert|put|write|place|include)\b~60\b(?:to|into|in)\s~6(?:todos|topics|questions|\w+_\w+)\b(?! please)", 0.3),
    Rule("tamper", r"\b(?:do not|don['’]?t|never|avoid)\s~6(?:mention|tell|reveal|inform|notify|alert|report|disclose|include|list|warn)\b~24(?:{people}|summary|output|this (?:message|instruction)|risks?|in (?:the|your))\b", 0.42),
    Rule("tamper", r"{verdict}\s~6(?:is|to|as|must be|should be|always|=|:)\s~6[\"'“]?{good}", 0.3),
    Rule("tamper", r"\b(?:set|mark|rate|classify|label|score|treat|consider|report|record|grade)\s~24(?:as|to)\s[\"'“]?{good}", 0.42),
    Rule("tamper", r"\b\w+_\w+\s*=\s*[\"'\[]?~12\b\w+_?\w*\s*=", 0.2),
    Rule("tamper", r"{start}(?:remember|memori[sz]e|store|save)\s~6(?:that|this|for)\b~30(?:future|always|from now|every|next|forever|memory)", 0.42),
    # in disguise
    Rule("disguise", r"\b(?:decode|decrypt|unscramble|deobfuscate|decipher|reverse)\b~40\b(?:and|then)\b~6(?:follow|execute|obey|run|do|perform|answer|comply|respond|act)\b", 0.6),
    Rule("disguise", r"\b(?:first|initial)\s(?:letters?|words?)\s~20(?:follow|execute|obey|instruction|command)", 0.5),
    # harmful writing, asked for in passing
    Rule("harm", r"{compose}\s~20{bad}\s~24{writing}", 0.6),
    Rule("harm", r"{compose}\s~12{writing}\s~24{bad}", 0.45),
    Rule("urgency", r"\b(?:urgent(?:ly)?|immediately|emergency|right now|at once|critical|asap)\b", 0.1),
    Rule("pretext", r"\b(?:security|compliance|safety)\s(?:audit|check|test|review|purposes?)|\b(?:debugging|testing|educational|research) purposes\b", 0.15),
)
