#!/bin/sh
# Yesterday's chats, every night. Exports lie in $CHATS; the summaries go to $OUT, one folder a day.
# A run that was interrupted goes on where it stopped, so that it may be started again at any time.
set -eu
PATH=$PATH:$HOME/.local/bin  # cron knows little more than /usr/bin
: "${MODEL:=wechat-zh}" "${CHATS:=$HOME/wechat/exports}" "${OUT:=$HOME/wechat/summaries}"
day=$(date +%Y-%m-%d)
find "$CHATS" -type f \( -name '*.csv' -o -name '*.json' -o -name '*.jsonl' -o -name '*.txt' -o -name '*.db' \) -exec \
  ollama-kit wechat summarize --model "$MODEL" --since yesterday --until yesterday --out "$OUT/$day" "$@" {} +
