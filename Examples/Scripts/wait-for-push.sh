#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A test in the shell: wait-for-push.sh APNS_URL INBOX_URL, as `martlet simulate` prints them.
set -eu
apns=${1%/} inbox=${2%/}

# The CA certificate of the simulator: from the installed martlet, otherwise the file in CURL_CA_BUNDLE.
case $apns in
https:*)
    if authority=$(martlet ca path 2>/dev/null) && [ -r "$authority" ]; then export CURL_CA_BUNDLE="$authority"; fi
    version=--http2
    ;;
*) version=--http2-prior-knowledge ;;
esac

# In a real test, the program under test sends this push.
cursor=$(curl --silent --show-error --fail "$inbox/api/v1/cursor" | tr -dc 0-9)
curl --silent --show-error --fail "$version" -H "authorization: bearer ${TOKEN:?a provider token, from: martlet token}" \
    -H "apns-topic: com.example.app" -H "apns-push-type: alert" \
    -d '{"aps":{"alert":{"title":"Order ready"}}}' "$apns/3/device/5d3a6a1c8f9a42d6"

# 200 with the push, or 408 with near misses.
curl --silent --show-error --fail --get "$inbox/api/v1/pushes/wait" --data-urlencode 'query=title:"Order ready" is:accepted' \
    --data "since=$cursor" --data "timeout=5" >/dev/null
echo "the push arrived"
