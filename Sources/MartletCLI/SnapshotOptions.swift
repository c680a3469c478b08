// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands

extension Flag {
    static let mobileSurfaces = Flag(
        "--mobile-surfaces",
        "Send the snapshot as the package @mobile-surfaces/push sends it"
    )
}

/// The options for the snapshot to send.
struct SnapshotOptions: Sendable {
    fileprivate var file: InputFile?
    fileprivate var role: Role?
    fileprivate var categories: InputFile?
    fileprivate var attributesType: String?
    fileprivate var live: Live

    /// The options for a snapshot that starts, updates or ends a Live Activity.
    struct Live: Sendable {
        var staleDate: TimeArgument?
        var relevanceScore: Double?
        var timestamp: TimeArgument?
        var isCompatible: Bool

        static let declared = Group(
            Option<TimeArgument?>(
                "--stale-date",
                "Time from which the snapshot is outdated: seconds since 1970, a date and time, or a duration "
                    + "such as +1h"
            ),
            Option<FiniteNumber?>("--relevance-score", "Relevance score of the activity of the snapshot"),
            Option<TimeArgument?>("--timestamp", "Timestamp of the snapshot's push; by default the current time"),
            Flag.mobileSurfaces
        ) { Live(staleDate: $0, relevanceScore: $1?.value, timestamp: $2, isCompatible: $3) }

        /// Whether no option was given that only a Live Activity has.
        var isEmpty: Bool { staleDate == nil && relevanceScore == nil && timestamp == nil }
    }

    static let declared = Group(
        Option<InputFile?>("--snapshot", "Snapshot of a surface: a JSON file, JSON text, or - for standard input"),
        Option<Role?>("--as", "Effect of the snapshot: alert a device, or start, update or end a Live Activity"),
        Option<InputFile?>("--categories", "The app's notification categories for --snapshot, JSON"),
        Option<String?>(
            "--attributes-type",
            "Name of the app's ActivityAttributes for "
                + "--as start; \(SurfaceActivityAttributes.attributesType) by default"
        ),
        Live.declared
    ) { SnapshotOptions(file: $0, role: $1, categories: $2, attributesType: $3, live: $4) }

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

        /// Returns the snapshot with the options for the request headers.
        func with(_ headers: NotificationOptions.Headers) throws(UsageError) -> Snapshot {
            var snapshot = self
            if let priority = headers.priority {
                let known: [LiveActivityPriority] = [.immediate, .powerAware]
                guard let chosen = known.first(where: { $0.priority == priority }) else {
                    throw UsageError("--priority of a snapshot must be 10 or 5")
                }
                snapshot.delivery.priority = chosen
            }
            guard headers.collapseID == nil || role == .device else {
                throw UsageError("--collapse-id requires --as device: activities have no collapse identifier")
            }
            snapshot.delivery.expiration = headers.expiration?.expiration
            snapshot.delivery.collapseID = headers.collapseID
            return snapshot
        }
    }

    /// Reads the snapshot that the options specify; nil without one.
    func snapshot() throws(UsageError) -> Snapshot? {
        guard let file else {
            guard role == nil, categories == nil, attributesType == nil else {
                throw UsageError("--as, --categories and --attributes-type need --snapshot")
            }
            guard live.isEmpty, !live.isCompatible else {
                throw UsageError(
                    "--stale-date, --relevance-score, --timestamp and --mobile-surfaces need --snapshot"
                )
            }
            return nil
        }
        guard attributesType == nil || role == .start else { throw UsageError("--attributes-type requires --as start") }
        let role = role ?? .device
        guard role != .device || live.isEmpty else {
            throw UsageError("--stale-date, --relevance-score and --timestamp require --as start, update or end")
        }
        let registry = try NotificationCategories(file: categories)
        return Snapshot(
            content: try SurfaceSnapshot(file: file, categories: registry, of: role == .device ? nil : .liveActivity),
            role: role,
            delivery: SurfaceDelivery(
                timestamp: live.timestamp?.date(),
                staleDate: live.staleDate?.date(),
                relevanceScore: live.relevanceScore,
                attributesType: attributesType ?? SurfaceActivityAttributes.attributesType,
                categories: registry,
                compatibility: live.isCompatible ? .mobileSurfaces : []
            )
        )
    }
}
