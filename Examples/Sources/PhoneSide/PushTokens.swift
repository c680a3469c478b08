// SPDX-License-Identifier: Apache-2.0

// The tokens of the app on this phone, which the server needs to send pushes.
#if os(iOS) && canImport(ActivityKit)
    import Foundation
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

    /// The kinds of tokens that the server stores for a phone.
    enum PushTokenKind: String, Codable {
        case device, activityStart, activity, widgets, controls
    }

    /// Reports all tokens of a kind to the server, which replaces those that it has.
    func report(_ tokens: [Data], as kind: PushTokenKind) async {
        struct Report: Encodable {
            let kind: PushTokenKind
            let tokens: [String]
        }
        let hexadecimal = tokens.map { token in token.map { String(format: "%02x", $0) }.joined() }
        guard let url = URL(string: "https://shop.example.com/tokens"),
            let body = try? JSONEncoder().encode(Report(kind: kind, tokens: hexadecimal))
        else { return }
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        // An app must also store a report that fails, and repeat it; this example does not.
        _ = try? await URLSession.shared.upload(for: request, from: body)
    }

    /// Reports the tokens of the controls that the user has added.
    struct OrderControlTokens: ControlPushHandler {
        func pushTokensDidChange(controls: [ControlInfo]) {
            let tokens = controls.compactMap(\.pushInfo?.token)
            Task { await report(tokens, as: .controls) }
        }
    }

    /// Reports the token of all widgets of the app.
    @available(iOS 26, *)
    struct OrderWidgetTokens: WidgetPushHandler {
        func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
            let tokens = widgets.isEmpty ? [] : [pushInfo.token]
            Task { await report(tokens, as: .widgets) }
        }
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
