#!/bin/sh
# usage: examples/curl.sh SPEC.json   -- starts a migration, waits until it follows the source, compares both sides
# Prints the report. Exit code 0: equal; 1: different; 2: refused, with all problems on stderr.
set -eu
API="${DROVER_API_URL:-http://127.0.0.1:3000}"
API="${API%/}/api/v1"

# METHOD PATH [JSON]: puts the answer into $answer, or ends with the problem that the board describes.
ask() {
  set -- "$1" "$API$2" "${3-}"
  # The token comes by a pipe: arguments can be seen by everybody on the host.
  answer=$(printf 'header = "Authorization: Bearer %s"\n' "${DROVER_API_TOKEN:-}" |
    curl --silent --show-error --fail-with-body --config - --request "$1" "$2" \
      ${3:+--header 'Content-Type: application/json' --data-binary "$3"}) || {
    printf '%s\n' "$answer" >&2
    exit 2
  }
}
field() { printf '%s' "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
says() { case $answer in *"$1"*) true ;; *) false ;; esac; }

# Sending the same spec again changes nothing, so a lost answer costs nothing.
ask POST /migrations "@$1"
id=$(field id)
echo "migration $id" >&2

# Each request waits for half a minute at most; ask again until it is reached. Of a failed migration the answer is an error.
until ask POST "/migrations/$id/wait" '{"for": "streaming", "timeoutSeconds": 30}' && says '"reached":true'; do :; done
echo "it follows the source" >&2

ask POST "/migrations/$id/diffs" '{"maxSamples": 5}'
diff=$(field diffId)
until ask POST "/migrations/$id/diffs/$diff/wait" '{"timeoutSeconds": 30}' && says '"ended":true'; do :; done
ask GET "/migrations/$id/diffs/$diff"
printf '%s\n' "$answer"
says '"hasMismatch":false'
