// SPDX-License-Identifier: Apache-2.0

// The app's part of LiveSurfaces: it starts activities, and stores entries for its extensions.
import ActivityKit
import Foundation
import LiveSurfaces

private let appGroupName = "group.com.example.app"

/// The user defaults that the app shares with its extensions.
var appGroup: UserDefaults? { UserDefaults(suiteName: appGroupName) }

/// Starts an activity that pushes update.
func startActivity(for snapshot: LiveActivitySnapshot) throws {
    let content = ActivityContent(state: snapshot.contentState, staleDate: nil)
    _ = try Activity.request(attributes: snapshot.attributes, content: content, pushType: .token)
}
