// SPDX-License-Identifier: Apache-2.0

/// The states of a job's pushes, as the job counts them.
package enum JobPushState: Sendable, Hashable, CaseIterable {
    /// The push has not ended.
    case waiting
    case ended(Outcome.State)

    package static let allCases: [JobPushState] = [.waiting] + Outcome.State.allCases.map { JobPushState.ended($0) }

    package var name: String {
        switch self {
        case .waiting: "waiting"
        case .ended(let state): state.rawValue
        }
    }
}

/// A push of a job, with the installation that it is for.
package struct JobPush: Sendable, Hashable {
    /// The position among the pushes of the job: the ``StoredInstallation/number`` of the installation, after a move
    /// from a file its number there.
    package var place: Int64
    package var status: PushStatus
    /// The installation; nil if it was removed since, or the job was moved from a file into a database.
    package var installation: InstallationID?
    /// The present user of ``installation``; nil when that is nil.
    package var user: String?

    package init(place: Int64, status: PushStatus, installation: InstallationID?, user: String?) {
        self.place = place
        self.status = status
        self.installation = installation
        self.user = user
    }
}
