"""To-dos of a chat, each with the words that prove it. Usage: python todos_of_a_chat.py MODEL [CHAT.txt]"""

import sys
from pathlib import Path

from ollama_kit import Client, Document

HERE = Path(__file__).parent
chat = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "chat.txt"

with Client() as client:
    result = client.chat(
        sys.argv[1],
        "列出聊天中的待办事项。",
        documents=[Document(chat.read_text(encoding="utf-8"), chat.name)],
        schema=HERE / "todos.schema.json",
    )
for todo, evidence in zip(result.value["todos"], result.evidence, strict=True):
    print(f"{todo['person']}: {todo['task']}  (characters {evidence.span} of {chat.name})")
for finding in result.report.findings:
    print(f"{finding.severity}: {finding.stage}/{finding.rule} at {finding.span}, {finding.action}")
print(f"{result.report.predicted_tokens} tokens predicted ({result.report.predicted_as}), host {result.report.host}")
