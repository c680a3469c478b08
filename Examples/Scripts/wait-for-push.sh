#!/bin/sh
# A test in the shell: wait-for-push.sh APNS_URL INBOX_URL, as `martlet simulate` prints them.
set -eu
apns=$1 inbox=$2

# What is to be tested would send this by itself.
cursor=$(curl --silent --fail "$inbox/api/v1/cursor" | tr -dc 0-9)
curl --silent --fail --http2-prior-knowledge -H "authorization: bearer ${TOKEN:?a provider token, from: martlet token}" \
    -H "apns-topic: com.example.app" -H "apns-push-type: alert" \
    -d '{"aps":{"alert":{"title":"Order ready"}}}' "$apns/3/device/5d3a6a1c8f9a42d6"

# 200 with the push, or 408 with what came close.
curl --silent --fail --get "$inbox/api/v1/pushes/wait" --data-urlencode 'query=title:"Order ready" is:accepted' \
    --data "since=$cursor" --data "timeout=5" >/dev/null
echo "the push came"
