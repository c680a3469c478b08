# SPDX-License-Identifier: Apache-2.0

martlet simulate --h2c
