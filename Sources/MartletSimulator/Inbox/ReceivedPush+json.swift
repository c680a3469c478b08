internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Pushes as JSON, for the HTTP interface, for exports with one push a line, and for the archive.
extension ReceivedPush {
    /// The push as the HTTP interface returns and exports it, with its findings.
    var json: JSONValue {
        .object(members(payload: payloadMembers) + [JSONValue.Member("findings", .array(findings.map(\.json)))])
    }

    /// The push as the archive stores it, with everything that ``init(record:number:)`` needs.
    var record: JSONValue { .object(members(payload: [payloadText])) }

    private func members(payload: [JSONValue.Member]) -> [JSONValue.Member] {
        let always: [JSONValue.Member?] = [
            .init("number", .number(JSONNumber(number))),
            .init("time", .number(JSONNumber(time))),
            .init("connection", .number(JSONNumber(connection))),
            channel.map { .init("channel", .string($0.rawValue)) } ?? .init("device-token", .string(deviceToken)),
            app.map { .init("app", .string($0)) },
            .init("headers", headers.json),
            .init("status", .number(JSONNumber(status))),
            .init(idName, .string(id)),
        ]
        var members = always.compactMap(\.self)
        switch truncatedPayloadSize {
        case .exactly(let count): members.append(.init("payload-size", .number(JSONNumber(count))))
        case .atLeast(let count): members.append(.init("payload-size-at-least", .number(JSONNumber(count))))
        case nil: break
        }
        if let count = headers.collapseIDByteCount {
            members.append(.init("collapse-id-size", .number(JSONNumber(count))))
        }
        if arrival != time { members.append(.init("arrival", .number(JSONNumber(arrival)))) }
        if let namespace { members.append(.init("namespace", .string(namespace))) }
        if let fault { members.append(.init("fault", .string(fault))) }
        if let reason { members.append(.init("reason", .string(reason.rawValue))) }
        members += payload
        if !observations.isEmpty {
            members.append(.init("observations", .array(observations.map(\.record))))
        }
        members.append(.init("deliveries", .array(deliveries.map(\.json))))
        return members
    }

    /// The payload as JSON if it is valid JSON, and as a string if encoding that JSON would not give the same bytes.
    private var payloadMembers: [JSONValue.Member] {
        // Inside the push the payload is one level deeper, and a reader must still accept that depth.
        guard let value = try? JSONReader.read(payload), value.depth < JSONReader.maximumDepth else {
            return [payloadText]
        }
        let member = JSONValue.Member("payload", value)
        return value.encoded() == payload ? [member] : [member, payloadText]
    }

    private var payloadText: JSONValue.Member {
        String(validating: payload, as: UTF8.self).map { .init("payload-text", .string($0)) }
            ?? .init("payload-base64", .string(Data(payload).base64EncodedString()))
    }
}

/// The reason that a JSON value is not a push.
struct PushRecordError: Error, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    let description: String
}

extension ReceivedPush {
    /// Creates a push from JSON made by ``record`` or by the HTTP interface.
    ///
    /// - Parameters:
    ///   - record: The JSON.
    ///   - newNumber: The number of the new push; by default the number in the JSON.
    ///   - arrival: The time at which this simulator received it, in seconds since 1970; by default the time in the
    ///     JSON.
    /// - Throws: ``PushRecordError`` that names the first member that is missing or invalid.
    init(record: JSONValue, number newNumber: Int? = nil, arrival: Int64? = nil) throws(PushRecordError) {
        guard record.members != nil else { throw PushRecordError(description: "a push must be a JSON object") }
        let fields = record["headers"]
        number = if let newNumber { newNumber } else { try Int(record.wholeNumber("number")) }
        time = try record.wholeNumber("time")
        self.arrival = arrival ?? record["arrival"]?.integerValue ?? time
        connection = try Int(record.wholeNumber("connection"))
        channel = record["channel"]?.stringValue.map(ChannelID.init(rawValue:))
        app = record["app"]?.stringValue
        deviceToken = channel == nil ? try record.text("device-token") : ""
        namespace = record["namespace"]?.stringValue
        var headers = PushHeaders { fields?[$0.description]?.stringValue }
        headers.collapseIDByteCount = record["collapse-id-size"]?.integerValue.map { Int(clamping: $0) }
        self.headers = headers
        payload = try ReceivedPush.payload(in: record)
        let count = record["payload-size"]?.integerValue.map { TruncatedPayloadSize.exactly(Int(clamping: $0)) }
        let minimum = record["payload-size-at-least"]?.integerValue.map {
            TruncatedPayloadSize.atLeast(Int(clamping: $0))
        }
        truncatedPayloadSize = count ?? minimum
        status = try Int(record.wholeNumber("status"))
        reason = record["reason"]?.stringValue.map(Reason.init(rawValue:))
        let requestID = record[ReceivedPush.requestIDName]?.stringValue
        idName = requestID == nil ? ReceivedPush.pushIDName : ReceivedPush.requestIDName
        id = if let requestID { requestID } else { try record.text(ReceivedPush.pushIDName) }
        fault = record["fault"]?.stringValue
        observations = (record["observations"]?.elements ?? []).compactMap(Lint.Finding.init(record:))
        for event in record["deliveries"]?.elements ?? [] { deliveries.append(try DeliveryEvent(record: event)) }
    }

    /// Returns the payload of a record, which has it in one of three forms.
    static func payload(in record: JSONValue) throws(PushRecordError) -> [UInt8] {
        if let base64 = record["payload-base64"]?.stringValue {
            guard let bytes = Data(base64Encoded: base64) else {
                throw PushRecordError(description: "payload-base64 must be valid base64")
            }
            return Array(bytes)
        }
        if let text = record["payload-text"]?.stringValue { return Array(text.utf8) }
        guard let payload = record["payload"] else { throw PushRecordError(description: "payload is missing") }
        return payload.encoded()
    }
}

extension JSONValue {
    /// The depth of nested arrays and objects.
    fileprivate var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
        default: 0
        }
    }

    fileprivate func wholeNumber(_ name: String) throws(PushRecordError) -> Int64 {
        guard let number = self[name]?.integerValue else {
            throw PushRecordError(description: "\(name) must be a whole number")
        }
        return number
    }

    fileprivate func text(_ name: String) throws(PushRecordError) -> String {
        guard let text = self[name]?.stringValue else { throw PushRecordError(description: "\(name) must be a string") }
        return text
    }
}

extension PushHeaders {
    fileprivate var json: JSONValue {
        let all = [
            ("apns-push-type", pushType), ("apns-id", id), ("apns-expiration", expiration),
            ("apns-priority", priority), ("apns-topic", topic), ("apns-collapse-id", collapseID),
        ]
        return .object(all.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } })
    }
}

extension Lint.Finding {
    /// The finding as the HTTP interface returns it.
    var json: JSONValue {
        [
            "rule": .string(rule), "severity": .string(severity.rawValue), "place": .string(place.description),
            "message": .string(message), "page": .string(page),
        ]
    }
}

extension Lint.Finding {
    /// The finding as the archive stores it, with the name of the rule.
    fileprivate var record: JSONValue {
        ["rule": .string(rule), "place": .string(place.description), "message": .string(message)]
    }

    /// The rules that are not evaluated again when a stored push is read.
    private static let observedRules =
        TrafficRules.all + RequestRules.all + ProviderTokenRules.all + ActivityRule.allCases.map(\.rule)
        + RefusalRules.all
        + ActivityContract.rules

    /// Creates a finding from the archive; nil when its rule no longer exists.
    fileprivate init?(record: JSONValue) {
        guard
            let rule = Lint.Finding.observedRules.first(where: { $0.id == record["rule"]?.stringValue }),
            let place = record["place"]?.stringValue, let message = record["message"]?.stringValue
        else { return nil }
        self.init(rule, Lint.Place(description: place), message)
    }
}

extension Lint.Place {
    /// Creates a place from its description.
    fileprivate init(description: String) {
        let payload = "payload"
        self =
            if description.hasPrefix(payload) {
                .payload(String(description.dropFirst(payload.count)))
            } else if description
                == Lint.Place.connection.description
            { .connection } else { .header(description) }
    }
}

extension DeliveryEvent {
    fileprivate var json: JSONValue {
        let note = note.map { [JSONValue.Member("note", .string($0))] } ?? []
        return .object(
            [.init("time", .number(JSONNumber(time))), .init("kind", .string(kind.rawValue))] + note
        )
    }

    fileprivate init(record: JSONValue) throws(PushRecordError) {
        let name: String = try record.text("kind")
        guard let kind = Kind(rawValue: name) else {
            throw PushRecordError(description: "unknown kind of delivery \(name)")
        }
        self.init(kind, at: try record.wholeNumber("time"), record["note"]?.stringValue)
    }
}
