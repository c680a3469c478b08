# SPDX-License-Identifier: Apache-2.0

ticket=$(.build/debug/OrderTracker http://127.0.0.1:8198 phone-1 sign-in)
curl -s -H "authorization: Bearer $ticket" http://127.0.0.1:8198/v1/installation --data '{
    "environment": "production",
    "tokens": {"device": "5d3a6a1c8f9a42d6", "widgets": "5d3a6a1c8f9a42d8",
               "controls": {"ring-bell": "5d3a6a1c8f9a42d9"}}
}' >installation.json
