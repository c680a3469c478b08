// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MartletCore

@Suite struct LocalizedErrorTests {
    private static let errors: [any Error & CustomStringConvertible] = [
        APNsIDError(), CollapseIDError(byteCount: 65), DeviceTokenError.oddDigitCount(3), PayloadError.reservedKey,
        ProviderTokenError.missing("iat"), JSONError(.unexpectedEnd, at: 0, in: []),
    ]

    @Test func `the localized description is the description`() {
        for error in Self.errors { #expect(error.localizedDescription == error.description) }
    }
}
