// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The report about a lane.
extension LaneFacts {
    /// Returns the lane for the status, at a time in milliseconds since 1970.
    func json(at now: Int64) -> JSONValue {
        let members: [JSONValue.Member?] = [
            .init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue)),
            backlog.map { .init("backlog", .whole($0.count)) }, waiting.map { .init("waiting", .whole($0)) },
            oldestAge(at: now).map { .init("oldest-seconds", .whole($0 / 1_000)) },
            backlog.map { .init("retrying", .whole($0.retrying)) },
            backlog?.oldestRetry.map { .init("retrying-since", .whole($0)) },
            retryReason.map { .init("retry-reason", .string($0)) }, .init("state", .string(state.rawValue)),
            pause.map { .init("manual-pause", $0.json) }, problem.map { .init("reason", .string($0.reason)) },
            problem.map { .init("since", .whole($0.since)) },
            problem.flatMap(\.nextTry).map { .init("paused-until", .whole($0)) },
        ]
        return .object(members.compactMap(\.self) + counts.members)
    }
}
