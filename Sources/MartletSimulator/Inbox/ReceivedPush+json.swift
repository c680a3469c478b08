// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The form in which a list or a stream of events has pushes.
enum PushView: String, CaseIterable {
    /// Everything about each push.
    case full
    /// The parts that a row of a list displays.
    case summary
}

/// Pushes as JSON, for the HTTP interface, for exports with one push a line, and for the archive.
extension ReceivedPush {
    /// The push as the HTTP interface returns and exports it, with its findings, its verdict, and the presentation of
    /// its alert.
    var json: JSONValue {
        let value = try? JSONReader.read(payload)
        // Inside the push the payload is one level deeper, and a reader must still accept that depth.
        let isReadable = value.map { $0.depth < JSONReader.maximumDepth } ?? false
        // A text is added when encoding the JSON would not give the same bytes.
        let isExact = isReadable && value?.encoded() == payload
        let fields = (isReadable ? [.init("payload", value ?? .null)] : []) + (isExact ? [] : [payloadText])
        let results = [
            JSONValue.Member("findings", .array(findings.map(\.json))),
            JSONValue.Member("verdict", verdict(payload: value).json),
        ]
        let presentation = NotificationPresentation.json(headers, isBroadcast: isBroadcast, value).map {
            JSONValue.Member("presentation", $0)
        }
        let phone = [presentation].compactMap(\.self) + effects(value)
        return .object(members(payload: fields) + labels.members + results + phone)
    }

    /// Returns the push as the page of one Live Activity shows it: the verdict on a broadcast is that at the activity,
    /// after its last events there, and null when the broadcast was not delivered to it.
    func json(atDevice token: String, after events: [DeliveryEvent] = []) -> JSONValue {
        guard isBroadcast else { return json }
        let verdict = JSONValue.Member("verdict", verdict(atDevice: token, after: events)?.json ?? .null)
        return .object((json.members ?? []).map { $0.name == verdict.name ? verdict : $0 })
    }

    /// Returns the push as the log of a device lists it, whose verdict on a broadcast is that at the device.
    func summary(atDevice token: String) -> JSONValue {
        guard isBroadcast, let result = verdict(atDevice: token) else { return summary }
        let verdict = JSONValue.Member("verdict", result.summary)
        return .object((summary.members ?? []).map { $0.name == verdict.name ? verdict : $0 })
    }

    /// The push as lists show it: an excerpt of the payload, which is missing when the payload is not valid JSON,
    /// findings without their messages, the kind and the text of the verdict, the size of the payload, and whether the
    /// push is for the token of a Live Activity.
    var summary: JSONValue {
        let value = content
        let findings = findingMarks.map { mark -> JSONValue in
            ["rule": .string(mark.rule), "severity": .string(mark.severity.rawValue)]
        }
        let results = JSONValue.members([
            "payload": value.map { PayloadExcerpt(of: $0).json }, "findings": .array(findings),
            "verdict": verdict(payload: value).summary, "size": .integer(payloadByteCount),
            "no-sound": isAlertWithoutSound(value) ? true : nil,
            "activity-token": isToActivityToken(value) ? true : nil,
        ])
        return .object(facts + labels.members + (results.members ?? []) + effects(value))
    }

    /// Returns what the pages need besides the presentation of the push, whose payload is passed as JSON.
    private func effects(_ content: JSONValue?) -> [JSONValue.Member] {
        NotificationPresentation.effects(headers, isBroadcast: isBroadcast, content)
    }

    /// Returns the push in one of its forms.
    func json(_ view: PushView) -> JSONValue {
        switch view {
        case .full: json
        case .summary: summary
        }
    }

    /// The push as the archive stores it, with everything that ``init(record:number:arrival:)`` needs.
    var record: JSONValue { .object(members(payload: [payloadText]) + labels.storedMembers) }

    private func members(payload: [JSONValue.Member]) -> [JSONValue.Member] {
        let results = JSONValue.members([
            "observations": observations.isEmpty ? nil : .array(observations.map(\.record)),
            "deliveries": .array(deliveries.map(\.json)),
        ])
        return facts + payload + (results.members ?? [])
    }

    /// The members of the push besides its payload and its results.
    private var facts: [JSONValue.Member] {
        let (size, minimum): (Int?, Int?) =
            switch truncatedPayloadSize {
            case .exactly(let count): (count, nil)
            case .atLeast(let count): (nil, count)
            case nil: (nil, nil)
            }
        let facts = JSONValue.object(of: [
            "number": number, "time": JSONValue.integer(time / 1_000), "time-ms": JSONValue.integer(time),
            "connection": connection, "channel": channel?.rawValue, "device-token": channel == nil ? deviceToken : nil,
            "app": app, "headers": headers.json, "status": status, ReceivedPush.pushIDName: isBroadcast ? nil : id,
            ReceivedPush.requestIDName: isBroadcast ? id : nil, "payload-size": size, "payload-size-at-least": minimum,
            "collapse-id-size": headers.collapseIDByteCount,
            "arrival": arrival == time ? nil : JSONValue.integer(arrival / 1_000), "namespace": namespace,
            "fault": fault,
            "reason": reason?.rawValue,
        ])
        return facts.members ?? []
    }

    private var payloadText: JSONValue.Member {
        String(validating: payload, as: UTF8.self).map { .init("payload-text", .string($0)) }
            ?? .init("payload-base64", .string(Data(payload).base64EncodedString()))
    }
}

extension ReceivedPush {
    /// Creates a push from JSON made by ``record`` or by the HTTP interface.
    ///
    /// - Parameters:
    ///   - json: The JSON.
    ///   - newNumber: The number of the new push; by default the number in the JSON.
    ///   - arrival: The time at which this simulator received it, in milliseconds since 1970; by default the time in
    ///     the JSON.
    /// - Throws: ``APIProblem`` that names the first member that is missing or invalid.
    init(record json: JSONValue, number newNumber: Int? = nil, arrival: Int64? = nil) throws(APIProblem) {
        let record = APIField(json, named: "the push")
        guard json.members != nil else { throw record.mismatch("an object") }
        let fields = json["headers"]
        number = if let newNumber { newNumber } else { try record["number"].integer(in: 0...Int.max) }
        time = try ReceivedPush.time(in: record)
        let recordedArrival = try record["arrival"].ifPresent?.integer(in: ReceivedPush.seconds)
        self.arrival = arrival ?? recordedArrival.map(Int64.init(millisecondsOf:)) ?? time
        connection = try record["connection"].integer(in: 0...Int.max)
        channel = json["channel"]?.stringValue.map(ChannelID.init(rawValue:))
        app = json["app"]?.stringValue
        deviceToken = channel == nil ? try record["device-token"].text() : ""
        namespace = json["namespace"]?.stringValue
        var headers = PushHeaders { fields?[$0.description]?.stringValue }
        headers.collapseIDByteCount = json["collapse-id-size"]?.integerValue.map { Int(clamping: $0) }
        self.headers = headers
        payload = try ReceivedPush.payload(in: record)
        let (size, minimum) = (json["payload-size"]?.integerValue, json["payload-size-at-least"]?.integerValue)
        truncatedPayloadSize =
            size.map { .exactly(Int(clamping: $0)) } ?? minimum.map { .atLeast(Int(clamping: $0)) }
        status = try record["status"].integer(in: 0...Int.max)
        reason = json["reason"]?.stringValue.map(APNsReason.init(rawValue:))
        id = try record[app == nil ? ReceivedPush.pushIDName : ReceivedPush.requestIDName].text()
        fault = json["fault"]?.stringValue
        labels = PushLabels(record: record)
        observations = (json["observations"]?.elements ?? []).compactMap(PushLint.Finding.init(record:))
        for event in try record["deliveries"].ifPresent?.elements() ?? [] {
            deliveries.append(try DeliveryEvent(event))
        }
    }

    /// The accepted times of pushes and their events, in seconds since 1970: calculations with them do not overflow.
    private static let seconds = 0...CalendarDay.secondsSince1970.upperBound

    /// Returns the time of a push or an event in milliseconds since 1970; the JSON may have seconds alone.
    static func time(in record: APIField) throws(APIProblem) -> Int64 {
        let time = try record["time"].integer(in: seconds)
        let exactTime = record["time-ms"].value?.integerValue
        return exactTime.flatMap { $0 / 1_000 == time ? $0 : nil } ?? Int64(millisecondsOf: time)
    }

    /// Returns the payload of a record, which has it in one of three forms.
    static func payload(in record: APIField) throws(APIProblem) -> [UInt8] {
        if let base64 = try record["payload-base64"].ifPresent?.text() {
            guard let bytes = Data(base64Encoded: base64) else {
                throw record["payload-base64"].error("must be valid base64")
            }
            return Array(bytes)
        }
        if let text = try record["payload-text"].ifPresent?.text() { return Array(text.utf8) }
        guard let payload = record["payload"].value else { throw record["payload"].error("is missing") }
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
}

extension PushHeaders {
    fileprivate var json: JSONValue {
        .object(of: [
            "apns-push-type": pushType, "apns-id": id, "apns-expiration": expiration, "apns-priority": priority,
            "apns-topic": topic, "apns-collapse-id": collapseID,
        ])
    }
}

extension PushLint.Finding {
    /// The finding as the HTTP interface returns it.
    var json: JSONValue {
        [
            "rule": .string(rule), "severity": .string(severity.rawValue), "place": .string(place.description),
            "message": .string(message), "page": .string(page),
        ]
    }

    /// The finding as the archive stores it, with the name of the rule.
    fileprivate var record: JSONValue {
        .members([
            "rule": .string(rule), "place": .string(place.description), "message": .string(message),
            "reason": reason.map { .string($0.rawValue) },
        ])
    }

    /// The rules that are not evaluated again when a stored push is read.
    private static let observedRules =
        TrafficRules.all + RequestRules.all + ProviderTokenRules.all + ActivityRules.all
        + ContentStateRules.all + RefusalRules.all
        + ActivityContract.rules

    /// Creates a finding from the archive; nil when its rule no longer exists.
    fileprivate init?(record: JSONValue) {
        guard
            let rule = PushLint.Finding.observedRules.first(where: { $0.id == record["rule"]?.stringValue }),
            let place = record["place"]?.stringValue, let message = record["message"]?.stringValue
        else { return nil }
        let reason = record["reason"]?.stringValue.map(APNsReason.init(rawValue:))
        self.init(rule, PushLint.Place(description: place), message: message, reason: reason)
    }
}

extension PushLint.Place {
    /// Creates a place from its description.
    fileprivate init(description: String) {
        let payload = "payload"
        self =
            description.hasPrefix(payload)
            ? .payload(String(description.dropFirst(payload.count)))
            : description == PushLint.Place.connection.description ? .connection : .header(description)
    }
}
