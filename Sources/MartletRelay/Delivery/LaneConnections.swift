// SPDX-License-Identifier: Apache-2.0

internal import Martlet

/// The connections of a lane to Apple, for metrics.
struct LaneConnections: Sendable, Equatable {
    /// The number of open connections.
    private(set) var count = 0
    /// The number of GOAWAY frames from Apple, by reason.
    private(set) var goAways: [String: Int] = [:]
    /// The number of connections that failed or were lost, by the error.
    private(set) var errors: [String: Int] = [:]

    mutating func record(_ event: ClientEvent) {
        switch event {
        case .connected:
            count += 1
        case .connectionFailed(let error):
            errors[error.code.description, default: 0] += 1
        case .goAway(_, let reason):
            goAways[reason?.rawValue ?? "", default: 0] += 1
        case .disconnected(_, let error):
            count -= 1
            if error.code != .closed { errors[error.code.description, default: 0] += 1 }
        case .circuitOpened, .clockSkew, .retrying:
            break
        }
    }
}
