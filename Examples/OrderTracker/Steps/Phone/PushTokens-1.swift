// SPDX-License-Identifier: Apache-2.0

// The app's installation at the relay, which knows the tokens of the app on this phone.
import Foundation
import LiveSurfaces

/// The address at which phones reach the relay.
let relay = "https://push.shop.example.com"
/// The keychain items of the app and its extensions.
let keychain = KeychainStorage(accessGroup: "group.com.example.app")

/// The app's installation at the relay.
let installation = InstallationClient(relay: relay, environment: .production, storage: keychain) { user in
    try await ticket(for: user)
}

/// Asks the shop's server for a ticket.
///
/// The server finds the user by the session, and requests the ticket from the relay with its key.
private func ticket(for user: String) async throws -> String {
    guard let url = URL(string: "https://shop.example.com/ticket") else { throw URLError(.badURL) }
    return String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
}
