# SPDX-License-Identifier: Apache-2.0

martlet surface validate --strings Localizable.xcstrings order-ready.json
