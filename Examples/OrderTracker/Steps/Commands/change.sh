# SPDX-License-Identifier: Apache-2.0

.build/debug/OrderTracker http://127.0.0.1:8198 phone-1 baking
.build/debug/OrderTracker http://127.0.0.1:8198 phone-1 ready
until curl -s http://localhost:8197/api/v1/phones/1 | grep -o '"headline":"Order ready"'; do sleep 1; done
for type in widgets controls alert; do
    curl -s "http://localhost:8197/api/v1/pushes/wait?query=type:$type&timeout=30" >/dev/null
done
