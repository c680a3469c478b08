// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension SurfaceSnapshot {
    /// All projections of the snapshot, named `contentState`, `attributes` and `alertPayload` for a Live Activity,
    /// `payload` for a notification, and `entry` for the other kinds.
    public var projections: [JSONValue.Member] {
        switch self {
        case .liveActivity(let snapshot):
            [
                .init("contentState", snapshot.contentState.json), .init("attributes", snapshot.attributes.json),
                .init("alertPayload", snapshot.alertPayload),
            ]
        case .widget(let snapshot): [.init("entry", snapshot.entry.json)]
        case .control(let snapshot): [.init("entry", snapshot.entry.json)]
        case .lockAccessory(let snapshot): [.init("entry", snapshot.entry.json)]
        case .standBy(let snapshot): [.init("entry", snapshot.entry.json)]
        case .notification(let snapshot): [.init("payload", snapshot.payload)]
        }
    }
}
