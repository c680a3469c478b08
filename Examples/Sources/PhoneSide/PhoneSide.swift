// SPDX-License-Identifier: Apache-2.0

// The app's part of LiveSurfaces: it starts activities, and stores entries for its extensions.
#if os(iOS) && canImport(ActivityKit)
    import ActivityKit
    import Foundation
    import LiveSurfaces
    import UserNotifications
    import WidgetKit

    private let appGroupName = "group.com.example.app"

    /// The user defaults that the app shares with its extensions.
    var appGroup: UserDefaults? { UserDefaults(suiteName: appGroupName) }

    /// The directory that the app shares with its extensions.
    var appGroupContainer: URL? {
        FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: appGroupName)
    }

    /// The categories of the app's notifications, from the file that the server also reads.
    func registerCategories(_ json: [UInt8]) throws {
        let categories = try NotificationCategories(parsing: json)
        UNUserNotificationCenter.current().setNotificationCategories(categories.registered)
    }

    /// Starts an activity that pushes update.
    func startActivity(for snapshot: LiveActivitySnapshot) throws {
        let content = ActivityContent(state: snapshot.contentState, staleDate: nil)
        let activity = try Activity.request(attributes: snapshot.attributes, content: content, pushType: .token)
        Task {
            await installation.reportActivity(activity.id, of: snapshot.surfaceID, startedAt: .now, by: .app)
        }
    }

    /// Stores the snapshot of a background push where the extensions find it.
    func receive(_ userInfo: [AnyHashable: Any]) throws {
        guard let carried = userInfo["surfaceSnapshot"] else { return }
        let bytes = Array(try JSONSerialization.data(withJSONObject: carried))
        // A server that is newer than the app may send kinds that the app does not know.
        let received = try SurfaceSnapshot.parse(received: bytes)
        for warning in received.warnings { print(warning) }
        guard case .snapshot(let snapshot, _) = received else { return }
        store(snapshot)
        WidgetCenter.shared.reloadAllTimelines()
        ControlCenter.shared.reloadAllControls()
    }

    /// Reads the snapshots to show from the relay, and stores them: a push that reloads widgets or controls has none.
    func readSnapshots() async {
        let send = InstallationClient.urlSession(to: relay)
        // Without an answer, the extension shows the entries that were stored before.
        let snapshots = try? await InstallationClient.snapshotsForExtension(storage: keychain, send: send)
        // The surface that changed last is stored last, and shown.
        for snapshot in (snapshots ?? []).reversed() { store(snapshot) }
    }

    private func store(_ snapshot: SurfaceSnapshot) {
        switch snapshot {
        case .widget(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
        case .control(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
        case .lockAccessory(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
        case .standBy(let snapshot): store(snapshot.entry, for: snapshot.surfaceID)
        case .liveActivity, .notification: break
        }
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
#endif
