// SPDX-License-Identifier: Apache-2.0

package import LiveSurfaces
package import Martlet
package import MartletCommands
package import MartletCore
import MartletTransport

extension DeviceToken: ArgumentValue {
    /// Parses a token in hexadecimal digits.
    package init(argument: String) throws(UsageError) {
        do throws(DeviceTokenError) {
            try self.init(hex: argument)
        } catch {
            throw UsageError("\(error)")
        }
    }

    package static var valueName: String { "token" }
}

extension APNsID: ArgumentValue {
    /// Parses an identifier, whose letters may be in upper case.
    package init(argument: String) throws(UsageError) {
        guard let id = try? APNsID(argument, allowsUpperCase: true) else {
            throw UsageError("must be a UUID (found \(ShownValue.quoted(argument)))")
        }
        self = id
    }

    package static var valueName: String { "uuid" }
}

extension CollapseID: ArgumentValue {
    /// Parses 1 to 64 bytes of text.
    package init(argument: String) throws(UsageError) {
        do throws(CollapseIDError) {
            try self.init(argument)
        } catch {
            throw UsageError("\(error)")
        }
    }

    package static var valueName: String { "text" }
}

extension PushNotification.InterruptionLevel: ArgumentValue {
    /// Parses one of the known levels.
    package init(argument: String) throws(UsageError) {
        self.init(rawValue: argument)
        guard PushNotification.InterruptionLevel.all.contains(self) else {
            throw PushNotification.InterruptionLevel.invalidChoice(argument)
        }
    }

    package static var valueName: String { "level" }
    package static var choices: [String] { all.map(\.rawValue) }
}

extension PushType: ArgumentValue {
    /// Parses one of the known types.
    package init(argument: String) throws(UsageError) {
        self.init(rawValue: argument)
        guard PushType.all.contains(self) else { throw PushType.invalidChoice(argument) }
    }

    package static var valueName: String { "type" }
    package static var choices: [String] { all.map(\.rawValue) }
}

extension PushNotification.Priority: ArgumentValue {
    /// Parses 10, 5 or 1.
    package init(argument: String) throws(UsageError) {
        guard let priority = PushNotification.Priority.all.first(where: { String($0.rawValue) == argument }) else {
            throw PushNotification.Priority.invalidChoice(argument)
        }
        self = priority
    }

    package static var choices: [String] { ["10", "5", "1"] }
}

extension LiveActivityPriority: ArgumentValue {
    /// Parses 10 or 5.
    package init(argument: String) throws(UsageError) {
        switch argument {
        case "10": self = .immediate
        case "5": self = .powerAware
        default: throw LiveActivityPriority.invalidChoice(argument)
        }
    }

    package static var choices: [String] { ["10", "5"] }
}

extension PushNotification.CustomData: ArgumentValue {
    /// Parses a JSON object without a key `aps`.
    package init(argument: String) throws(UsageError) {
        do throws(PayloadError) {
            try self.init(json: Array(argument.utf8))
        } catch {
            throw UsageError("\(error)")
        }
    }

    package static var valueName: String { "json" }
}

/// A server other than Apple's: `localhost:2197`, or `http://localhost:2197` without TLS.
extension APNsEndpoint: ArgumentValue {
    /// Parses a host with an optional port and scheme.
    package init(argument: String) throws(UsageError) {
        let found = ShownValue.quoted(argument)
        var rest = argument[...]
        let isEncrypted = !rest.hasPrefix("http://")
        for scheme in ["https://", "http://"] where rest.hasPrefix(scheme) { rest = rest.dropFirst(scheme.count) }
        guard !rest.contains("://") else {
            throw UsageError(
                "must be a host such as localhost:2197, with https:// or http:// or without (found \(found))"
            )
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let address: HostPort
        do throws(HostPort.Fault) {
            address = try HostPort(rest)
            guard address.port != 0 else { throw HostPort.Fault.port }
        } catch {
            switch error {
            case .host:
                throw UsageError(
                    "must be a host such as localhost:2197, or an IPv6 address in brackets (found \(found))"
                )
            case .port: throw UsageError("the port must be an integer from 1 to 65535 (found \(found))")
            }
        }
        self.init(host: address.host, port: address.port ?? (isEncrypted ? 443 : 80), isEncrypted: isEncrypted)
    }

    package static var valueName: String { "host:port" }
}

extension SurfaceKind: ArgumentValue {}
