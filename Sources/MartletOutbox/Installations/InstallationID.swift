// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The identifier of an installation: a UUID in lower-case canonical form, which the relay chooses unless the
/// installation is imported with one.
///
/// It is not a secret.
package struct InstallationID: Sendable, Hashable, CustomStringConvertible {
    /// The UUID, which has the same form as an `apns-id`.
    private let uuid: APNsID

    /// Creates an identifier that begins with the time, so that later ones are stored beside each other.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - generator: The source of random numbers.
    package init(milliseconds time: Int64, using generator: inout some RandomNumberGenerator) {
        uuid = APNsID(milliseconds: time, randomBits: (generator.next(), generator.next()))
    }

    /// Creates an identifier from a hash of at least 16 bytes: the same hash gives the same identifier.
    package init(hash: some Sequence<UInt8>) {
        uuid = APNsID(hash: hash)
    }

    /// Parses an identifier in canonical form; nil for other text.
    package init?(_ text: String) {
        guard let uuid = try? APNsID(text) else { return nil }
        self.uuid = uuid
    }

    /// Creates an identifier from its 16 bytes; nil if there are more or fewer.
    init?(bytes: [UInt8]) {
        guard let uuid = APNsID(bytes: bytes) else { return nil }
        self.uuid = uuid
    }

    var bytes: [UInt8] { uuid.bytes }

    package var description: String { uuid.description }
}
