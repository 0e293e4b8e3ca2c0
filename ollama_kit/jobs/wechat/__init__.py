"""A chat as people export it, read into messages, selected, and (by the modules above) summarized.

Nothing here needs a server until a summary is asked for, and nothing is loaded before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.jobs.wechat.job import Estimate as Estimate, WeChatJob as WeChatJob
    from ollama_kit.jobs.wechat.message import (
        CHINA as CHINA,
        Group as Group,
        Kind as Kind,
        Message as Message,
        Place as Place,
        Quoted as Quoted,
    )
    from ollama_kit.jobs.wechat.readers.read_chat import (
        Chat as Chat,
        Reading as Reading,
        ReadOptions as ReadOptions,
        read_chat as read_chat,
        read_messages as read_messages,
    )
    from ollama_kit.jobs.wechat.readers.read_report import BrokenRow as BrokenRow, ReadReport as ReadReport
    from ollama_kit.jobs.wechat.readers.recognize import ChatFile as ChatFile, ChatReader as ChatReader
    from ollama_kit.jobs.wechat.readers.record import (
        Broken as Broken,
        Event as Event,
        Note as Note,
        Options as Options,
        Record as Record,
        Reply as Reply,
    )
    from ollama_kit.jobs.wechat.selection import (
        Selection as Selection,
        select as select,
        selection_of as selection_of,
        zone_named as zone_named,
    )
    from ollama_kit.jobs.wechat.summary import (
        Coverage as Coverage,
        Question as Question,
        Summary as Summary,
        Todo as Todo,
        Topic as Topic,
    )
    from ollama_kit.jobs.wechat.writers import (
        write_csv as write_csv,
        write_html as write_html,
        write_ics as write_ics,
        write_json as write_json,
        write_markdown as write_markdown,
        write_summaries as write_summaries,
    )
else:
    __getattr__, __dir__ = exports(__name__)
