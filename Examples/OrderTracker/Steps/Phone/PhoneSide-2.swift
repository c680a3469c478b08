// SPDX-License-Identifier: Apache-2.0

// The app's part of LiveSurfaces: it starts activities, and stores entries for its extensions.
import ActivityKit
import Foundation
import LiveSurfaces
import WidgetKit

private let appGroupName = "group.com.example.app"

/// The user defaults that the app shares with its extensions.
var appGroup: UserDefaults? { UserDefaults(suiteName: appGroupName) }

/// Starts an activity that pushes update.
func startActivity(for snapshot: LiveActivitySnapshot) throws {
    let content = ActivityContent(state: snapshot.contentState, staleDate: nil)
    _ = try Activity.request(attributes: snapshot.attributes, content: content, pushType: .token)
}

/// Stores the snapshot of a background push where the extensions find it.
func receive(_ userInfo: [AnyHashable: Any]) throws {
    guard let carried = userInfo["surfaceSnapshot"] else { return }
    let bytes = Array(try JSONSerialization.data(withJSONObject: carried))
    switch try SurfaceSnapshot(parsing: bytes) {
    case .widget(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
    case .control(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
    case .lockAccessory(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
    case .standBy(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
    case .liveActivity, .notification: break
    }
    WidgetCenter.shared.reloadAllTimelines()
    ControlCenter.shared.reloadAllControls()
}

private func store<Entry: SurfaceEntry>(_ entry: Entry, for surfaceID: String) {
    let text = String(decoding: entry.json.encoded(), as: UTF8.self)
    // The snapshots of all kinds of a surface have its identifier.
    let name = "\(surfaceID)-\(Entry.surfaceKind.rawValue)"
    appGroup?.set(text, forKey: SurfaceStorage.entryKey(for: name))
    appGroup?.set(name, forKey: SurfaceStorage.currentSurfaceKey(for: Entry.surfaceKind))
    appGroup?.set(Date.now.timeIntervalSince1970, forKey: SurfaceStorage.writtenAtKey(for: name))
}

/// Reads the entry that an extension shows.
func storedEntry<Entry: SurfaceEntry>(of type: Entry.Type = Entry.self) -> StoredEntry<Entry> {
    let name = appGroup?.string(forKey: SurfaceStorage.currentSurfaceKey(for: Entry.surfaceKind)) ?? ""
    return StoredEntry(appGroup?.string(forKey: SurfaceStorage.entryKey(for: name)))
}
