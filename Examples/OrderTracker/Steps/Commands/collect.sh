# SPDX-License-Identifier: Apache-2.0

.build/debug/OrderTracker http://127.0.0.1:8198 phone-1 collected
until curl -s http://localhost:8197/api/v1/phones/1 | grep -o '"cards":\[\]'; do sleep 1; done
until curl -s -H "authorization: Bearer $(cat back-end.key)" \
    http://127.0.0.1:8198/v1/apps/shop/surfaces/order-17/installations | grep -o '"installations":\[\]'; do sleep 1; done
