// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A push request in JSON: one content for one or more destinations.
///
/// ```json
/// {"app": "orders", "to": ["5d3a6a1c…"], "push-type": "alert", "payload": {"aps": {"alert": "Order ready"}}}
/// ```
struct PushRequest {
    enum Destination: Hashable {
        case device(DeviceToken)
        case channel(ChannelID)
    }

    enum Content {
        /// A payload with its headers.
        case payload([UInt8])
        /// A snapshot, from which the relay builds the payload.
        case snapshot(SnapshotRequest)
    }

    /// The maximum number of tokens in a request.
    static let longestList = 10_000
    /// The latest `not-before`, in seconds since 1970; a greater number would be a time in milliseconds.
    static let latestSecond: Int64 = 99_999_999_999

    static let members =
        [
            "app", "environment", "to", "channel", "bundle-id", "push-type", "priority", "expiration", "collapse-id",
            "id", "not-before", "supersede", "local-time", "local-time-zone", "payload", "payload-base64", "locales",
            "values", "default-values", "snapshot",
        ] + SnapshotRequest.members

    /// The members whose values each phone of an audience has.
    private static let phoneMembers = ["environment", "bundle-id"]

    var app: String?
    var environment: PushEnvironment?
    /// The tokens or the channel; empty for a push to an audience.
    var destinations: [Destination]
    /// The users or the installations that the push goes to; nil for a push to tokens or a channel.
    var audience: AudienceRequest?
    var bundleID: String?
    var pushType: String?
    var priority: Int64?
    /// Seconds since 1970.
    var expiration: Int64?
    var collapseID: CollapseID?
    var id: APNsID?
    /// Milliseconds since 1970.
    var notBefore: Int64?
    /// Whether each push replaces the earlier ones of its line that wait.
    let supersedes: Bool
    /// The local time at which each installation of the audience gets the push; nil for one time for all.
    var localDelivery: LocalDelivery?
    var content: Content
    /// The changes of the payload for phones in some languages; nil for none.
    let overrides: PayloadOverrides?
    /// The values of users for the placeholders of the payload; nil for none.
    let values: PersonalValues?
    /// The request of a job in JSON, without the app and the identifier; nil for a push without a job.
    let jobRequest: [UInt8]?

    /// Reads a request; the error has the place of the first mistake.
    init(_ json: JSONValue) throws(APIProblem) {
        let json = PushRequest.withoutNulls(json)
        let request = JSONField<APIProblem>(json, named: "the push")
        if request["aps"].isPresent {
            // The body of a request to APNs, which has the members of the payload.
            throw request["aps"].error(#"belongs in the payload: send {"to": …, "payload": {"aps": …}}"#)
        }
        try request.checkMembers(PushRequest.members)
        app = try request["app"].ifPresent?.nonemptyText()
        environment = try request["environment"].ifPresent?.choice(of: PushEnvironment.self)
        let namesAudience = request["to"].value?.members != nil && !request["channel"].isPresent
        audience = try namesAudience ? AudienceRequest(request["to"]) : nil
        destinations = try audience == nil ? PushRequest.destinations(request) : []
        if audience != nil, let member = PushRequest.phoneMembers.first(where: { request[$0].isPresent }) {
            throw request[member].error("must be left out of a push to users or an installation: each phone has one")
        }
        bundleID = try request["bundle-id"].ifPresent?.nonemptyText()
        pushType = try request["push-type"].ifPresent?.nonemptyText()
        priority = try request["priority"].ifPresent?.integer(in: 0...10)
        expiration = try request["expiration"].ifPresent?.integer(in: PushNotification.Expiration.accepted)
        collapseID = try request["collapse-id"].ifPresent?.parsed { (text) throws(CollapseIDError) in
            try CollapseID(text)
        }
        id = try request["id"].ifPresent?.parsed { (text) throws(APNsIDError) in try APNsID(text) }
        guard id == nil || destinations.count == 1 || audience != nil else {
            throw request["id"].error("must be left out of a push to several destinations: each gets its own")
        }
        let earliest = try request["not-before"].ifPresent?.secondsSince1970(upTo: PushRequest.latestSecond)
        notBefore = earliest.map { $0 * 1_000 }
        localDelivery = try LocalDelivery(request)
        content = try PushRequest.content(request)
        supersedes = try request["supersede"].ifPresent?.bool() ?? false
        overrides = try PushRequest.overrides(request, for: audience)
        values = try PushRequest.values(request, for: audience)
        jobRequest = if case .matching? = audience?.target { PushRequest.jobRequest(of: json) } else { nil }
    }

    /// Returns the members of a request except for the app and the identifier, in one order.
    private static func jobRequest(of json: JSONValue) -> [UInt8] {
        let members = (json.members ?? []).filter { $0.name != "app" && $0.name != "id" }
        return JSONValue.object(members.sorted { $0.name < $1.name }).encoded()
    }

    /// Returns a request without the members that are null: many encoders write null for a value that is absent.
    ///
    /// The members of its members are unchanged.
    static func withoutNulls(_ json: JSONValue) -> JSONValue {
        guard let members = json.members, members.contains(where: { $0.value == .null }) else { return json }
        return .object(members.filter { $0.value != .null })
    }

    private static func destinations(_ request: JSONField<APIProblem>) throws(APIProblem) -> [Destination] {
        let to = request["to"]
        if let channel = try request["channel"].ifPresent?.nonemptyText() {
            guard !to.isPresent else { throw to.error("must be left out of a push to a channel") }
            return [.channel(ChannelID(channel))]
        }
        guard let value = to.value else {
            let expected = "a device token, an array of them, or an object with \(AudienceRequest.targetNames)"
            throw APIProblem(400, "to is missing: it must be \(expected)", at: "")
        }
        guard let tokens = value.elements else { return [.device(try to.deviceToken())] }
        guard (1...longestList).contains(tokens.count) else {
            throw to.error("must have 1 to \(longestList) device tokens (found \(tokens.count))")
        }
        var destinations: [Destination] = []
        destinations.reserveCapacity(tokens.count)
        for index in tokens.indices { destinations.append(.device(try to[index].deviceToken())) }
        return destinations
    }

    private static func content(_ request: JSONField<APIProblem>) throws(APIProblem) -> Content {
        let present = ["payload", "payload-base64", "snapshot"].filter { request[$0].isPresent }
        guard let name = present.first, present.count == 1 else {
            throw APIProblem(400, "a push must have exactly one of payload, payload-base64 and snapshot", at: "")
        }
        // A snapshot determines the push type.
        let unused = name == "snapshot" ? ["push-type"] : SnapshotRequest.members
        if let member = unused.first(where: { request[$0].isPresent }) {
            throw request[member].error("must be left out of a push with \(name)")
        }
        let field = request[name]
        switch name {
        case "payload":
            guard let payload = field.value, payload.members != nil else { throw field.mismatch("an object") }
            return .payload(payload.encoded())
        case "snapshot":
            return .snapshot(try SnapshotRequest(request))
        default:
            guard let bytes = Data(base64Encoded: try field.nonemptyText()) else {
                throw field.error("must be base64 with padding (RFC 4648 §4)")
            }
            return .payload(Array(bytes))
        }
    }
}

extension JSONField<APIProblem> {
    /// Returns a time in seconds since 1970, at most `latest`; a greater number is a time in milliseconds.
    func secondsSince1970(upTo latest: Int64) throws(APIProblem) -> Int64 {
        guard let seconds = value?.integerValue, (0...latest).contains(seconds) else {
            throw mismatch("a time in seconds since 1970, not in milliseconds: an integer from 0 to \(latest)")
        }
        return seconds
    }

    fileprivate func deviceToken() throws(APIProblem) -> DeviceToken {
        try parsed { (text) throws(DeviceTokenError) in try DeviceToken(hex: text) }
    }
}
