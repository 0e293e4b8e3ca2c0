"""Forms that belong to no language: turns, tool calls and results that a document has no business to hold, comments
that hide text, links that carry text out. The family "turn" also says that what follows speaks for somebody else."""

from __future__ import annotations

from ollama_kit.guard.injection.rule import Rule

_SPEAKER = "system|assistant|developer|tool|function"
_CLOSED = (
    "chat_?log|chat|document|doc|context|data|input|text|content|conversation|history|transcript|user_?input|query|"
    r"prompt|messages?|untrusted\w{0,20}|external\w{0,20}|email|webpage|contract"
)
_DATA = "内容|聊天|上文|全文|填入|对话|chat_?(?:log|history)|history|secret|prompt|conversation|password|cookie|your_?data|user_?data"

RULES: tuple[Rule, ...] = (
    Rule("turn", r"<\|?\s?(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|begin_of_text|endofprompt)\s?\|?>", 0.55),
    Rule("turn", r"<\|\s?(?:system|user|assistant|human)\s?\|>", 0.6),
    Rule("turn", r"<\|(?:im_start|start_header_id)\|>\s*(?:system|user|assistant)", 0.8),
    Rule("turn", r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|<｜(?:user|assistant|system)｜>", 0.6),
    Rule("turn", r"^\W{0,3}#{1,6}\s*(?:new |end of |begin )?(?:system|instructions?|user|assistant|human|response|系统|指令|用户|助手|新指令|系统提示词?|系统指令|系统消息)\s?(?:prompt|message|instructions?)?\s*(?:[:：]|$)", 0.42),
    Rule("turn", r"^\W{0,3}#{2,4}\s*(?:new )?(?:instruction|response|system|human|assistant)\s*[:：]\s*$", 0.55),
    Rule("turn", r"^\W{0,3}#{1,6}\s*(?:system|系统)\s?(?:prompt|message)?\s*[:：]\s*\S", 0.55),
    Rule("turn", r"^\W{0,3}(?:\*\*)?(?:system|assistant|human|ai|user|developer|系统|系统消息|系统指令|系统提示词|系统通知|助手|ai助手|指令|新指令)(?:\*\*)?\s?(?:prompt|message|note|override|instructions?|notice)?\s*[:：]", 0.3),
    Rule("turn", r"^\W{0,3}(?:human|assistant|ai assistant|助手|ai助手|系统指令|系统提示词|system prompt|system message)\s*[:：]", 0.5),
    Rule("turn", r"[\[【<(（]\s*(?:/?system|assistant|系统消息|系统指令|系统提示词)(?: ?(?:prompt|message|note|override|instructions?|notice))?\s*[\]】>)）]", 0.35),
    Rule("turn", rf"[\"']role[\"']\s*:\s*[\"'](?:{_SPEAKER})[\"']", 0.52),
    Rule("turn", r"[\"'](?:tool|function|function_call|tool_calls?|tool_name|action|name)[\"']\s*:~80[\"'](?:args|arguments|parameters|tool_input|action_input)[\"']\s*:", 0.52),
    Rule("turn", r"^\W{0,8}\{\s*[\"'](?:topics|todos|questions)[\"']\s*:", 0.5),
    Rule("turn", r"</?(?:tool_call|tool_response|function_results?|tool_results?|function_calls?|observation|invoke|scratchpad)\b|^\W{0,2}(?:observation|action input|tool result|tool output)\s*:", 0.45),
    Rule("turn", r"<(?:important|information|instructions?|system|admin|system_?prompt|override|secret|hidden)\s*/?>", 0.4),
    Rule("turn", rf"</(?:{_CLOSED})>", 0.3),
    Rule("turn", r"[-=*#]{3,}\s*(?:end|begin|start) (?:of )?(?:the )?(?:document|context|prompt|user|text|system|input|data|instructions?|conversation|chat|untrusted)", 0.5),
    Rule("turn", r"(?:文档|聊天记录|资料|对话|数据|正文)(?:内容)?(?:已)?(?:经)?(?:到此|至此)?(?:结束|完毕)", 0.3),
    Rule("hidden", r"<!--~60(?:ai|llm|system|instruction|ignore|prompt|assistant|model|忽略|指令|注意|请|摘要|系统|模型|助手)", 0.35),
    Rule("hidden", r"(?:<!--|^\s{0,3}\[(?://|comment)\]:)~80(?:\b(?:ai|llm|assistant|ignore|instructions?|summary|you must|output|do not)\b|忽略|指令|模型|助手|摘要|总结|输出|必须|不要|务必|回答|回复|请)", 0.52),
    Rule("hidden", r"^\s{0,3}\[(?://|comment|_|\^)\]:\s*(?:#|<>)?\s*[(\"']", 0.35),
    Rule("hidden", r"(?:display\s?:\s?none|font-size\s?:\s?0|visibility\s?:\s?hidden|color\s?:\s?(?:white|#fff))", 0.2),
    Rule("exfil", r"https?://[^\s)\]]{1,200}[?&][\w.-]{1,40}=\s?(?:\{\{|\$\{|<[a-z_ ]+>|\[[a-z_ ]+\])", 0.6),
    Rule("exfil", rf"https?://[^\s)\]]{{1,200}}[?&][\w.-]{{1,40}}=[^\s)\]]{{0,60}}(?:{_DATA})", 0.4),
    Rule("link", r"!\[[^\]\n]{0,80}\]\(\s?https?://[^)\n]{1,200}[?&][\w.-]{1,40}=", 0.25),
    Rule("exfil", rf"!\[[^\]\n]{{0,80}}\]\(\s?https?://[^)\n]{{1,200}}=[^)\n]{{0,60}}(?:{_DATA})", 0.5),
    Rule("exfil", r"(?:fetch|xmlhttprequest|sendbeacon|new image|axios)~60(?:document\.|innertext|innerhtml|cookie|localstorage|textcontent)", 0.55),
    Rule("exfil", r"\{\{\s*(?:chat|chat_?log|history|context|prompt|system|conversation|messages?|secrets?|document|summary)[\w. ]{0,20}\}\}", 0.4),
)
