#!/bin/sh
# New contracts, every night. They lie in $CONTRACTS and the folders below it; facts and summaries go to $OUT.
# What was read is on record there, so that only new and changed contracts take time, and a run that was interrupted
# goes on where it stopped: it may be started again at any time.
set -eu
PATH=$PATH:$HOME/.local/bin  # cron knows little more than /usr/bin
: "${MODEL:=contract-zh}" "${CONTRACTS:=$HOME/contracts/in}" "${OUT:=$HOME/contracts/out}"
CONTRACTS=${CONTRACTS%/} OUT=${OUT%/}
[ -d "$CONTRACTS" ] || { echo "$CONTRACTS: no such folder" >&2; exit 2; }

# Runs `ollama-kit contract` with the arguments given on every contract, and prints its exit codes: find keeps none, and
# starts it more than once where the names are too long for one command line.
each() {
  find "$CONTRACTS" -path "$OUT" -prune -o -type f ! -name '.*' ! -name '~$*' \( -iname '*.pdf' -o -iname '*.docx' \
    -o -iname '*.html' -o -iname '*.htm' -o -iname '*.md' -o -iname '*.txt' \) -exec sh -c '
    ollama-kit contract "$@" >&3; echo $?' sh "$@" {} +
}
worst() {
  code=0
  for one in "$@"; do [ "$one" -le "$code" ] || code=$one; done
  echo "$code"
}

exec 3>&1
codes=$(each extract --model "$MODEL" --out "$OUT/facts" --format html --format xlsx --format json)
[ -n "$codes" ] || { echo "$CONTRACTS: no contracts"; exit 0; }
code=$(worst $codes)
[ "$code" -le 1 ] || exit "$code"  # the server is away, or the night was interrupted: a summary would meet the same
exit "$(worst "$code" $(each summarize --model "$MODEL" --out "$OUT/summaries"))"
