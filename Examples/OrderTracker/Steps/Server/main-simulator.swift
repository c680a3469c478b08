// SPDX-License-Identifier: Apache-2.0

try await sendToSimulator(strings: "Localizable.xcstrings")
