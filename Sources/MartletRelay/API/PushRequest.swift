internal import LiveSurfaces
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
    /// A destination of the push.
    enum Destination: Hashable {
        case device(DeviceToken)
        case channel(ChannelID)
    }

    /// The content of the push.
    enum Content {
        /// A payload with its headers.
        case payload([UInt8])
        /// A snapshot, from which the relay builds the payload.
        case snapshot(SurfaceSnapshot, event: String)
    }

    /// The maximum number of tokens in a request.
    static let longestList = 10_000
    /// The latest time in a request, in seconds since 1970; a greater number would be a time in milliseconds.
    static let latestSecond: Int64 = 99_999_999_999
    /// The events of a snapshot.
    static let events = ["start", "update", "end"]

    /// The members of a request.
    static let members = [
        "app", "environment", "to", "channel", "bundle-id", "push-type", "priority", "expiration", "collapse-id", "id",
        "not-before", "payload", "payload-base64", "snapshot", "event",
    ]

    var app: String?
    var environment: PushEnvironment?
    var destinations: [Destination]
    var bundleID: String?
    var pushType: String?
    var priority: Int64?
    /// Seconds since 1970.
    var expiration: Int64?
    var collapseID: CollapseID?
    var id: APNsID?
    /// Milliseconds since 1970.
    var notBefore: Int64?
    var content: Content

    /// Reads a request.
    ///
    /// - Parameter json: The JSON.
    /// - Throws: ``APIProblem`` with the place of the first error.
    init(_ json: JSONValue) throws(APIProblem) {
        guard let members = json.members else { throw APIProblem(400, "a push must be a JSON object", at: "") }
        if let unknown = members.first(where: { !PushRequest.members.contains($0.name) }) {
            let known = PushRequest.members.joined(separator: ", ")
            throw APIProblem(400, "unknown member \(unknown.name); known: \(known)", at: "/\(unknown.name)")
        }
        app = try json.orderText("app")
        environment = try json.orderText("environment").map { (name) throws(APIProblem) in
            guard let environment = PushEnvironment(rawValue: name) else {
                throw APIProblem(400, "environment is production or development, not \(name)", at: "/environment")
            }
            return environment
        }
        destinations = try PushRequest.destinations(json)
        bundleID = try json.orderText("bundle-id")
        pushType = try json.orderText("push-type")
        priority = try json.orderNumber("priority", 0...10)
        expiration = try json.orderNumber("expiration", 0...PushRequest.latestSecond)
        collapseID = try json.orderText("collapse-id").map { (text) throws(APIProblem) in
            do throws(CollapseIDError) {
                return try CollapseID(text)
            } catch {
                throw APIProblem(400, "\(error)", at: "/collapse-id")
            }
        }
        id = try json.orderText("id").map { (text) throws(APIProblem) in
            do throws(APNsIDError) {
                return try APNsID(text)
            } catch {
                throw APIProblem(400, "\(error)", at: "/id")
            }
        }
        guard id == nil || destinations.count == 1 else {
            throw APIProblem(400, "id is for a push to one destination: leave it out, and each gets its own", at: "/id")
        }
        notBefore = try json.orderNumber("not-before", 0...PushRequest.latestSecond).map { $0 * 1_000 }
        content = try PushRequest.content(json)
    }

    private static func destinations(_ json: JSONValue) throws(APIProblem) -> [Destination] {
        if let channel = try json.orderText("channel") {
            guard json["to"] == nil else { throw APIProblem(400, "a push goes to devices or to a channel", at: "/to") }
            return [.channel(ChannelID(channel))]
        }
        guard let to = json["to"] else {
            throw APIProblem(400, "to is missing: a device token, or a list of them", at: "")
        }
        let tokens = to.elements ?? [to]
        guard (1...longestList).contains(tokens.count) else {
            throw APIProblem(400, "to has \(tokens.count) tokens: 1 to \(longestList) are taken at once", at: "/to")
        }
        var destinations: [Destination] = []
        for (index, value) in tokens.enumerated() {
            let place = to.elements == nil ? "/to" : "/to/\(index)"
            guard let text = value.stringValue else { throw APIProblem(400, "a device token is a text", at: place) }
            do throws(DeviceTokenError) {
                destinations.append(.device(try DeviceToken(hex: text)))
            } catch {
                throw APIProblem(400, "\(error)", at: place)
            }
        }
        return destinations
    }

    private static func content(_ json: JSONValue) throws(APIProblem) -> Content {
        let present = ["payload", "payload-base64", "snapshot"].filter { json[$0] != nil }
        guard let name = present.first, present.count == 1 else {
            throw APIProblem(400, "a push has one of payload, payload-base64 and snapshot", at: "")
        }
        // A snapshot determines the push type and the priority, and only a snapshot has an event.
        let unused = name == "snapshot" ? ["push-type", "priority"] : ["event"]
        if let member = unused.first(where: { json[$0] != nil }) {
            throw APIProblem(400, "\(member) does not go with \(name): leave it out", at: "/\(member)")
        }
        switch name {
        case "payload":
            guard let payload = json["payload"], payload.members != nil else {
                throw APIProblem(400, "payload must be a JSON object", at: "/payload")
            }
            return .payload(payload.encoded())
        case "snapshot":
            let event = try json.orderText("event") ?? "update"
            guard events.contains(event) else {
                throw APIProblem(400, "event must be start, update or end (found \"\(event)\")", at: "/event")
            }
            do throws(SurfaceError) {
                return .snapshot(try SurfaceSnapshot(json["snapshot"] ?? .null), event: event)
            } catch {
                throw APIProblem(400, "\(error)", at: "/snapshot")
            }
        default:
            guard let text = try json.orderText(name), let bytes = Data(base64Encoded: text) else {
                throw APIProblem(400, "payload-base64 must be base64", at: "/payload-base64")
            }
            return .payload(Array(bytes))
        }
    }
}

extension JSONValue {
    /// Returns the string of a member; nil when the member is missing.
    fileprivate func orderText(_ name: String) throws(APIProblem) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty else {
            throw APIProblem(400, "\(name) must be a text that is not empty", at: "/\(name)")
        }
        return text
    }

    /// Returns the integer of a member; nil when the member is missing.
    fileprivate func orderNumber(_ name: String, _ range: ClosedRange<Int64>) throws(APIProblem) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let number = value.integerValue, range.contains(number) else {
            let bounds = "\(range.lowerBound) to \(range.upperBound)"
            let found = String(decoding: value.encoded().prefix(40), as: UTF8.self)
            throw APIProblem(400, "\(name) must be an integer from \(bounds) (found \(found))", at: "/\(name)")
        }
        return number
    }
}
