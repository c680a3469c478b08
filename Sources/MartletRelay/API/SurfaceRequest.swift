// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// A request to store a surface: the installations of an audience, and the snapshots that they shall show.
///
/// ```json
/// {"to": {"user": "anna"}, "snapshots": [{"kind": "liveActivity", "surfaceId": "order-7", …}], "priority": 10}
/// ```
struct SurfaceRequest {
    static let members = ["to"] + SurfaceContent.members + ["ends-at"]

    let audience: SurfaceAudience
    let content: SurfaceContent
    /// The time when the surface is withdrawn, in milliseconds since 1970; nil for never.
    let endsAt: Int64?

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - json: The body.
    ///   - id: The identifier of the surface, which the snapshots must have.
    ///   - app: The app.
    ///   - now: The time in milliseconds since 1970.
    /// - Throws: ``APIProblem`` with the place of the first mistake.
    init(_ json: JSONValue, of id: String, in app: RelayConfiguration.App, at now: Int64) throws(APIProblem) {
        let body = JSONField<APIProblem>(PushRequest.withoutNulls(json), named: "the body")
        try body.checkMembers(SurfaceRequest.members)
        try body["to"].checkMembers(AudienceRequest.targets)
        audience = try SurfaceAudience(AudienceRequest(body["to"]).target)
        var content = try SurfaceContent(body)
        content.channel = try content.channel?.resolved(in: app, body["channel"])
        for (index, snapshot) in content.snapshots.enumerated() where !snapshot.surfaceID.utf8.elementsEqual(id.utf8) {
            throw body["snapshots"][index]["surfaceId"].mismatch("\(ShownValue.quoted(id)), as in the path")
        }
        endsAt = try body["ends-at"].ifPresent.map { (field) throws(APIProblem) in
            try SurfaceRequest.time(field, after: now)
        }
        self.content = content
    }

    /// Returns a time that is later than another one, in milliseconds since 1970, of a member in seconds.
    private static func time(_ field: JSONField<APIProblem>, after now: Int64) throws(APIProblem) -> Int64 {
        guard let seconds = field.value?.integerValue, (0...PushRequest.latestSecond).contains(seconds),
            seconds * 1_000 > now
        else {
            let bounds = "more than \(now / 1_000), at most \(PushRequest.latestSecond)"
            throw field.mismatch("a time in the future, in seconds since 1970, not in milliseconds: \(bounds)")
        }
        return seconds * 1_000
    }

    /// Returns the surface to store.
    ///
    /// - Parameters:
    ///   - id: The identifier of the surface.
    ///   - app: The name of the app.
    ///   - caller: The name of the caller.
    ///   - stored: The surface that it replaces; nil for none.
    /// - Returns: The surface.
    /// - Throws: ``APIProblem`` when it is too long, or cannot be hashed.
    func surface(
        _ id: String,
        of app: String,
        by caller: String,
        replacing stored: StoredSurface?
    ) throws(APIProblem) -> MartletOutbox.Surface {
        var content = content
        let size = content.stored.count
        guard size <= SurfaceContent.byteLimit else {
            throw APIProblem(
                400,
                "snapshots must have at most \(SurfaceContent.byteLimit) bytes together (found \(size))",
                at: "/snapshots"
            )
        }
        content.unchanged = content.unchangedKinds(of: stored)
        let fingerprint: [UInt8]
        do throws(CryptographyError) {
            fingerprint = try content.fingerprint()
        } catch {
            throw APIProblem(503, "the relay cannot hash the request: \(error)", retryAfter: 5)
        }
        return MartletOutbox.Surface(
            app: app,
            id: id,
            caller: caller,
            audience: audience,
            request: content.stored,
            fingerprint: fingerprint,
            endsAt: endsAt,
            channel: content.channel?.id.rawValue
        )
    }
}

extension SurfaceAudience {
    /// Creates the audience of a surface from that of a request, with each user once and in the order of their bytes:
    /// the same users in another order change nothing.
    init(_ target: AudienceRequest.Target) {
        switch target {
        case .audience(.users(let users)):
            // Swift takes some users for equal that are not.
            let distinct = Set(users.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
            self = .users(distinct.map { String(decoding: $0, as: UTF8.self) })
        case .audience(.installation(let id)): self = .installation(id)
        case .matching(let expression): self = .matching(expression)
        }
    }

    /// The member `to` of a request.
    var json: JSONValue {
        switch self {
        case .users(let users): ["users": .strings(users)]
        case .installation(let id): ["installation": .string(id.description)]
        case .matching(let expression): ["where": .string(expression.description)]
        }
    }
}
