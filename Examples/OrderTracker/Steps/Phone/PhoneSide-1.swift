// SPDX-License-Identifier: Apache-2.0

// The app's part of LiveSurfaces: it starts activities, reports their tokens, and stores entries for its extensions.
import ActivityKit
import Foundation
import LiveSurfaces

private let appGroupName = "group.com.example.app"

/// The user defaults that the app shares with its extensions.
var appGroup: UserDefaults? { UserDefaults(suiteName: appGroupName) }

/// Starts an activity that pushes update, and reports its tokens.
func startActivity(for snapshot: LiveActivitySnapshot, register: @escaping @Sendable (Data) async -> Void) throws {
    let content = ActivityContent(state: snapshot.contentState, staleDate: nil)
    let activity = try Activity.request(attributes: snapshot.attributes, content: content, pushType: .token)
    Task { for await token in activity.pushTokenUpdates { await register(token) } }
}
