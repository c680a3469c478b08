# SPDX-License-Identifier: Apache-2.0

.build/debug/OrderTracker http://127.0.0.1:8198 phone-1 accepted
until curl -s http://localhost:8197/api/v1/phones/1 | grep -o '"headline":"Order accepted"'; do sleep 1; done
