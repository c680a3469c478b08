// SPDX-License-Identifier: Apache-2.0

// The phone's whole side of LiveSurfaces: one module for the app, its widgets and the server.
#if os(iOS) && canImport(ActivityKit)
    import ActivityKit
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

    private let group = UserDefaults(suiteName: "group.com.example.app")

    /// In the app: starts the activity that the server's pushes then change, and hands over its token.
    func startActivity(for snapshot: LiveActivitySnapshot, register: @escaping @Sendable (Data) async -> Void) throws {
        let content = ActivityContent(state: snapshot.contentState, staleDate: nil)
        let activity = try Activity.request(attributes: snapshot.attributes, content: content, pushType: .token)
        Task { for await token in activity.pushTokenUpdates { await register(token) } }
    }

    /// In the app, for a silent push: puts what it carries where the extensions find it.
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
    }

    private func store(_ entry: some SurfaceEntry, for surfaceID: String) {
        let text = String(decoding: entry.json.encoded(), as: UTF8.self)
        group?.set(text, forKey: SurfaceStorage.entryKey(for: surfaceID))
        group?.set(Date.now.timeIntervalSince1970, forKey: SurfaceStorage.writtenAtKey(for: surfaceID))
    }

    /// In the widget's extension: what to show.
    struct OrderWidgetView: View {
        let surfaceID: String

        var body: some View {
            switch StoredEntry<WidgetEntry>(group?.string(forKey: SurfaceStorage.entryKey(for: surfaceID))) {
            case .found(let entry):
                VStack(alignment: .leading) {
                    Text(entry.headline).font(.headline)
                    Text(entry.subhead)
                    ProgressView(value: entry.progress)
                }
                .widgetURL(URL(string: entry.deepLink))
            case .otherVersion: Text("Open the app to update this widget.")
            case .empty, .unreadable: Text("Nothing yet.")
            }
        }
    }
#endif
