# SPDX-License-Identifier: Apache-2.0

curl -T Localizable.xcstrings http://localhost:8197/api/v1/strings/com.example.app
martlet send --host http://localhost:2197 --to 5d3a6a1c8f9a42d6 --topic com.example.app \
    --snapshot order-ready.json
