// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A broadcast channel of an app, on which one broadcast updates the Live Activities of a surface on many phones.
///
/// A phone joins it with the start of a Live Activity, which has no update token then.
struct SurfaceChannel: Sendable, Hashable {
    /// The first system that can join a channel ("Setting up broadcast push notifications").
    private static let firstSystem = VersionNumber("18")

    let id: ChannelID
    /// Whether APNs stores the most recent broadcast for phones that are offline, as the channel was created.
    let storesBroadcasts: Bool
    /// The environment to which the channel belongs; nil in a request that names none.
    private(set) var environment: PushEnvironment?
    /// The bundle identifier to which the channel belongs; nil in a request that names none.
    private(set) var bundleID: String?

    /// Returns whether a phone can join: its tokens belong to the same place, and it has reported a system that can.
    func canBeJoined(by installation: Installation) -> Bool {
        guard environment == installation.environment, bundleID == installation.bundleID,
            let firstSystem = Self.firstSystem, let system = installation.attributes[.systemVersion],
            let version = VersionNumber(system)
        else { return false }
        return version >= firstSystem
    }
}

extension SurfaceChannel {
    private static let members = ["id", "message-storage-policy", "environment", "bundle-id"]

    /// Reads a channel; the error has the place of the first mistake.
    init(_ field: JSONField<APIProblem>) throws(APIProblem) {
        try field.checkMembers(Self.members)
        id = ChannelID(try field["id"].nonemptyText())
        storesBroadcasts = try field["message-storage-policy"].ifPresent?.integer(in: 0...1) == 1
        environment = try field["environment"].ifPresent?.choice(of: PushEnvironment.self)
        bundleID = try field["bundle-id"].ifPresent?.nonemptyText()
    }

    /// Returns the channel with the first environment and bundle identifier of its app in place of those that the
    /// request does not name; the error is that the app does not have those that it names, or that the identifier is
    /// not one of Apple.
    func resolved(in app: RelayConfiguration.App, _ field: JSONField<APIProblem>) throws(APIProblem) -> SurfaceChannel {
        var channel = self
        channel.environment = environment ?? app.environments.first
        channel.bundleID = bundleID ?? app.bundleIDs.first
        guard let environment = channel.environment, app.environments.contains(environment) else {
            let names = app.environments.map(\.rawValue).joined(separator: " or ")
            throw field["environment"].mismatch("\(names), for which the app is configured")
        }
        guard let bundleID = channel.bundleID, app.bundleIDs.contains(bundleID) else {
            let names = app.bundleIDs.joined(separator: " or ")
            let found = ShownValue.quoted(channel.bundleID ?? "")
            throw field["bundle-id"].error("must be \(names), a bundle identifier of the app (found \(found))")
        }
        // In one form alone, so that no two surfaces have the channel.
        guard Data(base64Encoded: id.rawValue)?.base64EncodedString() == id.rawValue,
            PushLint.firstRefusal(app: bundleID, channel: id.rawValue, needsChannel: true) != APNsReason.badChannelID
        else {
            let found = ShownValue.quoted(id.rawValue)
            throw field["id"].error("must be the base64 text that Apple has returned for the channel (found \(found))")
        }
        return channel
    }

    var json: JSONValue {
        .members([
            "id": .string(id.rawValue), "message-storage-policy": .integer(storesBroadcasts ? 1 : 0),
            "environment": environment.map { .string($0.rawValue) }, "bundle-id": bundleID.map { .string($0) },
        ])
    }
}
