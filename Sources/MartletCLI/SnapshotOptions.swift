// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands

/// The options for the snapshot to send.
struct SnapshotOptions: Sendable {
    fileprivate var file: InputFile?
    fileprivate var role: Role?
    fileprivate var categories: InputFile?
    fileprivate var attributesType: String?

    static let declared = Group(
        Option<InputFile?>("--snapshot", "Snapshot of a surface, JSON; - for standard input"),
        Option<Role?>("--as", "Effect of the snapshot: alert a device, or start, update or end a Live Activity"),
        Option<InputFile?>("--categories", "The app's notification categories for --snapshot, JSON"),
        Option<String?>(
            "--attributes-type",
            "Name of the app's ActivityAttributes for "
                + "--as start; \(SurfaceActivityAttributes.attributesType) by default"
        )
    ) { SnapshotOptions(file: $0, role: $1, categories: $2, attributesType: $3) }

    /// The effect of a snapshot on its destination.
    enum Role: String, ArgumentValue, CaseIterable {
        case device
        case start
        case update
        case end

        func destination(_ token: DeviceToken) -> SurfaceDestination {
            switch self {
            case .device: .device(token)
            case .start: .activityStart(token)
            case .update: .activity(token)
            case .end: .activityEnd(token)
            }
        }
    }

    /// A snapshot with its effect.
    struct Snapshot: Sendable {
        var content: SurfaceSnapshot
        var role: Role
        var delivery: SurfaceDelivery
    }

    /// Reads the snapshot that the options specify; nil without one.
    func snapshot() throws(UsageError) -> Snapshot? {
        guard let file else {
            guard role == nil, categories == nil, attributesType == nil else {
                throw UsageError("--as, --categories and --attributes-type need --snapshot")
            }
            return nil
        }
        guard attributesType == nil || role == .start else { throw UsageError("--attributes-type requires --as start") }
        let role = role ?? .device
        let registry = try NotificationCategories(file: categories)
        return Snapshot(
            content: try SurfaceSnapshot(file: file, categories: registry, of: role == .device ? nil : .liveActivity),
            role: role,
            delivery: SurfaceDelivery(
                attributesType: attributesType ?? SurfaceActivityAttributes.attributesType,
                categories: registry
            )
        )
    }
}
