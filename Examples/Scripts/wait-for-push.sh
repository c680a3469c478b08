#!/bin/sh
# A test in the shell: wait-for-push.sh APNS_URL INBOX_URL, as `martlet simulate` prints them.
set -eu
apns=$1 inbox=$2

# The simulator's certificate authority: that of the installed martlet, or else the file in CURL_CA_BUNDLE.
case $apns in
https:*)
    if authority=$(martlet ca path 2>/dev/null) && [ -r "$authority" ]; then export CURL_CA_BUNDLE="$authority"; fi
    version=--http2
    ;;
*) version=--http2-prior-knowledge ;;
esac

# What is to be tested would send this by itself.
cursor=$(curl --silent --show-error --fail "$inbox/api/v1/cursor" | tr -dc 0-9)
curl --silent --show-error --fail "$version" -H "authorization: bearer ${TOKEN:?a provider token, from: martlet token}" \
    -H "apns-topic: com.example.app" -H "apns-push-type: alert" \
    -d '{"aps":{"alert":{"title":"Order ready"}}}' "$apns/3/device/5d3a6a1c8f9a42d6"

# 200 with the push, or 408 with what came close.
curl --silent --show-error --fail --get "$inbox/api/v1/pushes/wait" --data-urlencode 'query=title:"Order ready" is:accepted' \
    --data "since=$cursor" --data "timeout=5" >/dev/null
echo "the push came"
