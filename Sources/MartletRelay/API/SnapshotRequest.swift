// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import Martlet
internal import MartletCore
internal import MartletHTTPServer

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A snapshot in a push request, from which the relay builds the payload, with the members that only it has.
struct SnapshotRequest {
    static let events = ["start", "update", "end"]
    /// The members that only the snapshot of a Live Activity may have.
    private static let activityMembers = ["stale-date", "relevance-score", "attributes-type", "dismissal-date"]
    /// The members that a push without a snapshot must not have.
    static let members = ["event"] + activityMembers + ["mobile-surfaces"]

    let snapshot: SurfaceSnapshot
    let event: String
    /// Seconds since 1970.
    let staleDate: Int64?
    let relevanceScore: Double?
    let attributesType: String?
    /// Seconds since 1970.
    let dismissalDate: Int64?
    /// The priority; nil for that of the kind and the event.
    let priority: LiveActivityPriority?
    /// Whether the push is the one that `@mobile-surfaces/push` sends.
    let isCompatible: Bool

    /// Reads the members of a push request; the error has the place of the first mistake.
    init(_ request: JSONField<APIProblem>) throws(APIProblem) {
        event = try request["event"].ifPresent?.nonemptyText() ?? "update"
        guard SnapshotRequest.events.contains(event) else { throw request["event"].mismatch("start, update or end") }
        guard event != "start" || !request["channel"].isPresent else {
            throw request["event"].error("must be update or end for a channel: a broadcast starts no Live Activity")
        }
        staleDate = try request["stale-date"].ifPresent?.secondsSince1970(upTo: PushLint.latestPlausibleTime)
        relevanceScore = try request["relevance-score"].ifPresent?.finiteNumber()
        attributesType = try request["attributes-type"].ifPresent?.nonemptyText()
        guard attributesType == nil || event == "start" else {
            throw request["attributes-type"].error("must be left out unless event is start")
        }
        dismissalDate =
            try request["dismissal-date"].ifPresent?.secondsSince1970(upTo: PushLint.latestPlausibleTime)
        guard dismissalDate == nil || event == "end" else {
            throw request["dismissal-date"].error("must be left out unless event is end")
        }
        priority = try request["priority"].ifPresent?.surfacePriority()
        isCompatible = try request["mobile-surfaces"].ifPresent?.bool() ?? false
        do throws(SurfaceError) {
            snapshot = try SurfaceSnapshot(request["snapshot"].value ?? .null)
        } catch {
            throw APIProblem(error, in: request["snapshot"].path)
        }
        guard snapshot.kind != .liveActivity else {
            // An update waits for a second that no earlier one has, so that each would replace the one before it, and
            // wait longer, and none would be sent while they follow each other faster.
            guard try request["supersede"].ifPresent?.bool() != true else {
                throw request["supersede"].error(
                    "must be false with a snapshot of a Live Activity, whose updates the relay sends a second apart"
                )
            }
            return
        }
        // Other kinds than a notification are silent pushes, which have only one priority.
        let unused = SnapshotRequest.activityMembers + (snapshot.kind == .notification ? [] : ["priority"])
        if let member = unused.first(where: { request[$0].isPresent }) {
            throw request[member].error("must be left out of a snapshot of the kind \(snapshot.kind.rawValue)")
        }
    }

    /// The options that only the push of a snapshot has.
    var delivery: SurfaceDelivery {
        SurfaceDelivery(
            priority: priority,
            staleDate: staleDate.map(Date.init(secondsSince1970:)),
            relevanceScore: relevanceScore,
            attributesType: attributesType ?? SurfaceActivityAttributes.attributesType,
            compatibility: isCompatible ? .mobileSurfaces : []
        )
    }

    /// The time at which the system removes an ended Live Activity from the screen.
    var dismissal: LiveActivityUpdate.Dismissal {
        dismissalDate.map { .at(Date(secondsSince1970: $0)) } ?? .immediate
    }
}

extension APIProblem {
    /// Creates the problem of a snapshot with all its mistakes, and the place of the first one.
    init(_ error: SurfaceError, in snapshot: JSONPath) {
        let mistakes = error.issues.map { issue in
            let place = ([snapshot.description] + issue.path).joined(separator: ".")
            return "\(place) \(issue.message)"
        }
        let first = error.issues.first
        let names = (first?.path ?? []) + (first?.unknownMember.map { [$0] } ?? [])
        self.init(mistakes.joined(separator: "; "), at: names.reduce(snapshot) { $0.appending($1) })
    }
}

extension JSONField<APIProblem> {
    func surfacePriority() throws(APIProblem) -> LiveActivityPriority {
        switch value?.integerValue {
        case 10?: .immediate
        case 5?: .powerAware
        default: throw mismatch("10 or 5 with a snapshot")
        }
    }

    fileprivate func finiteNumber() throws(APIProblem) -> Double {
        guard case .number(let number)? = value, number.doubleValue.isFinite else {
            throw mismatch("a number in double precision")
        }
        return number.doubleValue
    }
}
