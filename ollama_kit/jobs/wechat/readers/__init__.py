"""Readers of the formats that WeChat exporters write, chosen by a file's content.

A reader is a generator: it takes a file and the options and yields `Record`s, and in between `Broken` rows and `Note`s
(record.py). It knows one format and nothing of ids, limits or reports; `read_chat.py` adds those. `formats.py` says
what begins a file of each format; `recognize.py` asks all of them, and those of plug-ins (ollama_kit.plugins).

What a format does not hold no reader can give:

    format                        does not hold
    memotrace-v2-csv, -txt        one's own messages; wxids; the group. Names are made fit for file names (the CSV
                                  gives back those that its nickname explains)
    memotrace-v2-daily-txt        all of that, times of day, and where one message of a person ends
    wechatmsg-v1-csv              the text of files, links, forwards, quotes; in private chats, names
    wechatmsg-v1-txt              one's own messages; transfers, red packets, calls, forwards; names of files
    pywxdump-csv, -json           names (they are in users.json beside it); what a red packet says, and that it is one
    chatlog-csv                   one's own messages
    chatlog-csv, -json, -txt      transcripts of voice messages; what a sticker or a red packet says
    chatlog-txt                   the year or the date of times (see ReadOptions.day); the group, of one chat alone;
                                  one's own wxid
    weflow-txt, weclone-csv       wxids; the group; that a red packet is one; the first: one's own messages
    wechat-v3-db, -v4-db          names and groups' names (they are in the contact database, read if it stands beside);
                                  transcripts; what a sticker says; version 3: one's own wxid
    chatgpt-on-wechat-log         names, one's own messages, quotes, stickers, videos, red packets
    paste                         one's own messages; wxids; the group; quotes

Where a format keeps words and marks in one text (all texts, chatlog-csv, weclone-csv), somebody who types such a mark
makes a message look like what the mark says.
"""
