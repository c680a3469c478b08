// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The entry of a widget, stored in the app group.
public struct WidgetEntry: SurfaceEntry {
    /// The kind of surface that decodes the entry.
    public static var surfaceKind: SurfaceKind { .widget }

    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `widget`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The state of the surface's subject.
    public let state: SurfaceState
    /// The intended size.
    public let family: WidgetFamily?
    /// The reload policy of the timeline.
    public let reloadPolicy: WidgetReloadPolicy?
    /// The headline.
    public let headline: String
    /// The text below the headline.
    public let subhead: String
    /// The progress, from 0 to 1.
    public let progress: Double
    /// The link that a tap opens.
    public let deepLink: String

    /// The entry as JSON, with members in the order of the contract.
    public var json: JSONValue {
        .object(of: [
            "schemaVersion": schemaVersion, "kind": kind.rawValue, "snapshotId": snapshotId, "surfaceId": surfaceId,
            "state": state.rawValue, "family": family?.rawValue, "reloadPolicy": reloadPolicy?.rawValue,
            "headline": headline, "subhead": subhead, "progress": progress, "deepLink": deepLink,
        ])
    }
}

/// The entry of a control, stored in the app group.
public struct ControlEntry: SurfaceEntry {
    /// The kind of surface that decodes the entry.
    public static var surfaceKind: SurfaceKind { .control }

    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `control`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The kind of control.
    public let controlKind: ControlKind
    /// The value of a toggle.
    public let value: Bool?
    /// The App Intent that the control runs.
    public let intent: String?
    /// The label.
    public let label: String
    /// The link that the control opens.
    public let deepLink: String

    /// The entry as JSON, with members in the order of the contract.
    public var json: JSONValue {
        .object(of: [
            "schemaVersion": schemaVersion, "kind": kind.rawValue, "snapshotId": snapshotId, "surfaceId": surfaceId,
            "controlKind": controlKind.rawValue, "value": value, "intent": intent, "label": label, "deepLink": deepLink,
        ])
    }
}

/// The entry of a Lock Screen accessory, stored in the app group.
public struct LockAccessoryEntry: SurfaceEntry {
    /// The kind of surface that decodes the entry.
    public static var surfaceKind: SurfaceKind { .lockAccessory }

    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `lockAccessory`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The state of the surface's subject.
    public let state: SurfaceState
    /// The intended family.
    public let family: AccessoryFamily
    /// The headline.
    public let headline: String
    /// The text for a small space.
    public let shortText: String?
    /// The value of the gauge, from 0 to 1.
    public let gaugeValue: Double?
    /// The link that a tap opens.
    public let deepLink: String

    /// The entry as JSON, with members in the order of the contract.
    public var json: JSONValue {
        .object(of: [
            "schemaVersion": schemaVersion, "kind": kind.rawValue, "snapshotId": snapshotId, "surfaceId": surfaceId,
            "state": state.rawValue, "family": family.rawValue, "headline": headline, "shortText": shortText,
            "gaugeValue": gaugeValue, "deepLink": deepLink,
        ])
    }
}

/// The entry of a StandBy view, stored in the app group.
public struct StandByEntry: SurfaceEntry {
    /// The kind of surface that decodes the entry.
    public static var surfaceKind: SurfaceKind { .standBy }

    /// The version of the contract; check it first.
    public let schemaVersion: String
    /// Always `standby`.
    public let kind: SurfaceKind
    /// The snapshot's identifier.
    public let snapshotId: String
    /// The surface's identifier.
    public let surfaceId: String
    /// The state of the surface's subject.
    public let state: SurfaceState
    /// The presentation.
    public let presentation: StandByPresentation
    /// The colors.
    public let tint: StandByTint?
    /// The headline.
    public let headline: String
    /// The text below the headline.
    public let subhead: String
    /// The progress, from 0 to 1.
    public let progress: Double
    /// The link that a tap opens.
    public let deepLink: String

    /// The entry as JSON, with members in the order of the contract.
    public var json: JSONValue {
        .object(of: [
            "schemaVersion": schemaVersion, "kind": kind.rawValue, "snapshotId": snapshotId, "surfaceId": surfaceId,
            "state": state.rawValue, "presentation": presentation.rawValue, "tint": tint?.rawValue,
            "headline": headline, "subhead": subhead, "progress": progress, "deepLink": deepLink,
        ])
    }
}

/// An entry that the app stores in the app group for a surface, and that the surface's extension decodes.
public protocol SurfaceEntry: Codable, Sendable, Hashable {
    /// The kind of surface that decodes the entry.
    static var surfaceKind: SurfaceKind { get }

    /// The version of the contract.
    var schemaVersion: String { get }

    /// The kind of surface that the entry is for.
    var kind: SurfaceKind { get }

    /// The entry as JSON, with members in the order of the contract.
    var json: JSONValue { get }
}
