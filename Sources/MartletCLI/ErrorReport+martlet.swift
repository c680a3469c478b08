// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands
import MartletOutbox
import MartletTransport

/// A failure with status 1.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    /// Creates an error from a sentence without the final stop.
    init(_ description: String) {
        self.description = description
    }
}

extension ErrorReport {
    /// Creates the report of an error that a command throws.
    init(_ error: any Error) {
        let members: [JSONValue.Member] =
            switch error {
            case let error as ServerError: error.cause.members + [.init("hint", .string(error.hint))]
            case let error as APNsError: error.members
            case let error as BadLinesError: error.members
            case let error as InterruptedError: error.members
            default: [.init("error", .string(ErrorReport.code(of: error))), .init("message", .string("\(error)"))]
            }
        self.init(
            status: ExitStatus(of: error),
            message: "\(error)",
            json: String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
        )
    }

    private static func code(of error: any Error) -> String {
        switch ExitStatus(of: error) {
        case .usage: "usage"
        case .unreachable: "unreachable"
        case .success, .failure, .interrupted, .terminated: "failed"
        }
    }
}

extension ExitStatus {
    /// Returns the exit status for an error; a command with a result for each device or check uses that of the results.
    init(of error: any Error) {
        self =
            switch error {
            case is UsageError, is FileError, is DeviceTokenError, is PayloadError, is ProviderTokenError,
                is SurfaceError, is BadLinesError, is CredentialError:
                .usage
            case let error as ServerError: ExitStatus(of: error.cause)
            case let error as InterruptedError: error.status
            case let error as APNsError: ExitStatus(of: error.code)
            case let error as TransportError: ExitStatus(of: error.kind)
            case let error as RelayConnectionError: ExitStatus(of: error.cause.kind)
            case let error as SimulatorConnectionError: ExitStatus(of: error.cause.kind)
            case let error as HealthcheckError: error.isAnswer ? .failure : .unreachable
            case let error as OutboxError:
                error.kind == .unavailable || error.kind == .unreachable ? .unreachable : .failure
            default: .failure
            }
    }

    private init(of code: APNsError.Code) {
        self =
            switch code {
            case .badCredentials: .usage
            case .nameNotResolved, .connectionFailed, .certificateRejected, .notHTTP2, .connectionLost, .timedOut,
                .unreadableAnswer:
                .unreachable
            default: .failure
            }
    }

    private init(of kind: TransportError.Kind) {
        self =
            switch kind {
            case .badCredentials: .usage
            case .nameNotResolved, .connectionRefused, .timedOut, .certificateRejected, .tlsFailed, .notHTTP2,
                .closedByPeer, .protocolViolation:
                .unreachable
            case .system, .closedLocally, .cannotListen, .addressNotAvailable: .failure
            }
    }
}

extension APNsError {
    /// The error as members of a JSON object.
    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let status { members.append(.init("status", .integer(status))) }
        if let id { members.append(.init("apns-id", .string(id.description))) }
        if let reason { members.append(.init("reason", .string(reason.rawValue))) }
        if let time = unregisteredAt?.millisecondsSince1970 {
            members.append(.init("unregistered-at", .integer(time)))
        }
        members.append(.init("error", .string(code.description)))
        members.append(.init("message", .string(description)))
        return members
    }
}
