# SPDX-License-Identifier: Apache-2.0

martlet relay --configuration relay.json
