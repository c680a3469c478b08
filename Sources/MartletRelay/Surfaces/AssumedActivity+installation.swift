// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension AssumedActivity.Report {
    /// Creates the report of a surface from everything that an app has reported.
    ///
    /// - Parameters:
    ///   - surface: The identifier of the surface.
    ///   - attributesType: The attributes type of its Live Activity; nil if none shall be started.
    ///   - installation: The installation.
    init(of surface: String, attributesType: String?, in installation: Installation) {
        let start = attributesType.flatMap { installation.tokens[Installation.TokenSlot(.start, $0)] }
        self.init(
            startToken: start.map { AssumedActivity.ReportedToken($0) },
            isAllowed: installation.permissions[.liveActivities] ?? true,
            seenAt: installation.seenAt / 1_000
        )
        for (id, activity) in installation.activities where activity.surface == surface {
            if let end = activity.end {
                ended.append(
                    AssumedActivity.EndedReport(
                        id: id,
                        isByUser: end.cause == .user,
                        mayBeStartedByPush: activity.startedBy == nil || activity.startedBy == .push
                    )
                )
            } else {
                let token = installation.tokens[Installation.TokenSlot(.activity, id)]
                running.append(
                    AssumedActivity.RunningCard(
                        id: id,
                        token: token.map { AssumedActivity.ReportedToken($0) },
                        startedAt: activity.startedAt.map { $0 / 1_000 },
                        isStartedByPush: activity.startedBy.map { $0 != .app }
                    )
                )
            }
        }
        running.sort { ($0.startedAt ?? 0, $0.id) < ($1.startedAt ?? 0, $1.id) }
    }
}

extension AssumedActivity.ReportedToken {
    /// Creates a token from one of an installation.
    init(_ registered: Installation.RegisteredToken) {
        self.init(token: registered.token, reportedAt: registered.registeredAt / 1_000)
    }
}
