// SPDX-License-Identifier: Apache-2.0

// The app's installation at the relay, which knows the tokens of the app on this phone.
#if os(iOS) && canImport(ActivityKit)
    import Foundation
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

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

    /// Reports the tokens of the controls that the user has added.
    struct OrderControlTokens: ControlPushHandler {
        func pushTokensDidChange(controls: [ControlInfo]) {
            var tokens: [PushTokenSlot: Data] = [:]
            for control in controls { tokens[.control(kind: control.kind)] = control.pushInfo?.token }
            reportFromExtension(tokens)
        }
    }

    /// Reports the token of all widgets of the app.
    @available(iOS 26, *)
    struct OrderWidgetTokens: WidgetPushHandler {
        func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
            reportFromExtension([.widgets: pushInfo.token])
        }
    }

    private func reportFromExtension(_ tokens: [PushTokenSlot: Data]) {
        let send = InstallationClient.urlSession(to: relay)
        // The app reports the tokens, too, so this one is not repeated if it fails.
        Task { try await InstallationClient.reportFromExtension(tokens, storage: keychain, send: send) }
    }

    extension WidgetConfiguration {
        /// Lets the server reload the widget, from iOS 26 on.
        func reportingToken() -> some WidgetConfiguration {
            if #available(iOS 26, *) {
                return pushHandler(OrderWidgetTokens.self)
            } else {
                return self
            }
        }
    }
#endif
