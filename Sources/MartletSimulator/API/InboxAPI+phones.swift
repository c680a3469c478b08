// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The maximum number of phones or reports in one answer.
    private static let phoneLimit = 1_000

    /// The routes of simulated phones.
    static let phoneRoutes: [Route] = [
        Route(
            "GET",
            "/api/v1/phones",
            "Get the account of all simulated phones, and list those with the longest staleness first",
            [RouteParameter(name: "limit", summary: "The maximum number of phones, 0 to 1000; 100 by default")]
        ) { (call) throws(APIProblem) in
            let limit = try call.number("limit", 0...phoneLimit, default: 100)
            let population = try await phones(call, isComplete: true)
            let summary = PhoneSummary(population).json.members ?? []
            let listed = population.stalestFirst.prefix(limit).map { population.json(of: $0) }
            return .json(.object(summary + [.init("phones", .array(listed))]))
        },
        Route(
            "GET",
            "/api/v1/phones/reports",
            "List 1000 reports of the apps on the phones at most, oldest first: tokens, permissions and activities",
            [RouteParameter(name: "after", summary: "Only reports with higher numbers, such as a cursor; 0 by default")]
        ) { (call) throws(APIProblem) in
            let after = try call.number("after", 0 ... .max, default: 0)
            let reports = try await phones(call).reports(after: after).prefix(phoneLimit)
            return .json([
                "cursor": .integer(reports.last?.number ?? after), "reports": .array(reports.map(\.json)),
            ])
        },
        Route(
            "GET",
            "/api/v1/phones/events",
            "Stream the reports as server-sent events, beginning after Last-Event-ID if it is sent"
        ) { (call) throws(APIProblem) in
            _ = try await phones(call)
            try await checkCapacity(call)
            let lastID = call.fields["last-event-id"].flatMap { Int($0) }
            let events = await call.simulator.service.reportEvents(after: lastID)
            return .pieces(
                ["content-type": ServerSentEvent.contentType, "cache-control": "no-store"],
                events.map { $0.reportBytes }
            )
        },
        Route("GET", "/api/v1/phones/{phone}", "Get a phone with its cards, its notifications and its account") {
            (call) throws(APIProblem) in
            let population = try await phones(call, isComplete: true)
            let number = try number(call, in: population)
            return .json(population.json(of: number - 1, withDetails: true))
        },
        Route.action(
            "PUT",
            "/api/v1/phones/{phone}",
            "Set whether a phone is online, and whether it allows alerts and live-activities: true or false stays until"
                + " it is set again, and null leaves it to the user of the phone",
            perform: putPhone
        ),
        Route.action(
            "PUT",
            "/api/v1/phones/surfaces/{surface}",
            "State from now on what a surface should show: content, which is null after its end, on some phones or all",
            perform: putSurface
        ),
    ]

    /// Returns the phones, as ``PushService/currentPhones(isComplete:)`` does.
    private static func phones(
        _ call: APICall,
        isComplete: Bool = false
    ) async throws(APIProblem) -> PhonePopulation {
        guard let phones = await call.simulator.service.currentPhones(isComplete: isComplete) else {
            throw .missing("the simulator has no phones: start it with --phones")
        }
        return phones
    }

    /// Returns the number of the phone in the path.
    private static func number(_ call: APICall, in population: PhonePopulation) throws(APIProblem) -> Int {
        let name = call.argument("phone")
        guard let number = Int(name), String(number) == name, (1...population.phones.count).contains(number) else {
            throw .missing("there is no phone \(ShownValue(name)): phones are numbered from 1")
        }
        return number
    }

    @Sendable private static func putPhone(_ call: APICall) async throws(APIProblem) {
        let population = try await phones(call)
        let number = try number(call, in: population)
        let body = try call.object(of: PhoneSetting.allCases.map(\.rawValue))
        var settings: [PhoneSetting: Bool?] = [:]
        for setting in PhoneSetting.allCases {
            switch body[setting.rawValue].value {
            case nil: break
            case .null?: settings.updateValue(nil, forKey: setting)
            case .bool(let isOn)?: settings.updateValue(isOn, forKey: setting)
            default: throw body[setting.rawValue].mismatch("true, false, or null to leave it to the user")
            }
        }
        await call.simulator.service.fix(settings, ofPhone: number)
    }

    @Sendable private static func putSurface(_ call: APICall) async throws(APIProblem) {
        let count = try await phones(call).phones.count
        let surface = call.argument("surface")
        guard (1...120).contains(surface.utf8.count), surface.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            let rule = JSONValue.string(surface).mismatch("1 to 120 visible ASCII characters")
            throw APIProblem(400, "the identifier of the surface \(rule)")
        }
        let body = try call.object(of: ["content", "phones"])
        guard let content = body["content"].value else {
            throw body["content"].mismatch("the content-state, or null for a surface that has ended")
        }
        // A push to a device starts the card, so no larger content is on the screen of a phone at first.
        let size = content.encoded().count
        guard size <= PushLimits.payloadByteCount else {
            throw body["content"].error(
                "must have at most \(PushLimits.payloadByteCount) bytes in JSON (found \(size))"
            )
        }
        var numbers: [Int]?
        if let phones = body["phones"].ifPresent {
            numbers = try phones.elements().map { (phone) throws(APIProblem) in try phone.integer(in: 1...count) }
        }
        guard await call.simulator.service.expect(surface, content == .null ? nil : content, on: numbers) else {
            let limit = PhonePopulation.surfaceLimit
            throw APIProblem(409, "content of \(limit) others is stated, the maximum: state their ends with null")
        }
    }
}

extension PhoneReport {
    /// The report as the HTTP interface shows it.
    var json: JSONValue {
        [
            "number": .integer(number), "phone": .integer(phone), "user": .string(PhoneReport.user(of: phone)),
            "time-ms": .integer(time), "change": change,
        ]
    }
}

extension PhonePopulation {
    /// The indices of the phones, those with the longest staleness first.
    fileprivate var stalestFirst: [Int] {
        let durations = phones.map(\.phone.account.longestReachableStaleness)
        return phones.indices.sorted { (durations[$1], $0) < (durations[$0], $1) }
    }

    /// Returns a phone as the HTTP interface shows it.
    fileprivate func json(of index: Int, withDetails: Bool = false) -> JSONValue {
        let phone = phones[index].phone
        let (shown, alerts) = (phone.cards, phone.notifications)
        let cards: JSONValue = withDetails ? .array(shown.map(\.json)) : .integer(shown.count)
        let notifications: JSONValue =
            withDetails ? .array(alerts.reversed().map(\.alertExcerpt)) : .integer(alerts.count)
        let fixed = PhoneSetting.allCases.compactMap { setting in
            phones[index].fixedSettings[setting].map { JSONValue.Member(setting.rawValue, .bool($0)) }
        }
        return .members([
            "number": .integer(index + 1), "user": .string(PhoneReport.user(of: index + 1)),
            "app-state": .string(phone.appState.name), "online": .bool(phone.isOnline),
            "permissions": withDetails ? phone.permissions.json : nil, "fixed": withDetails ? .object(fixed) : nil,
            "cards": cards, "notifications": notifications, "account": phone.account.json,
        ])
    }
}

extension JSONValue {
    /// The texts of the notification of a payload, shortened; a text alone is the body.
    fileprivate var alertExcerpt: JSONValue {
        let alert = PayloadExcerpt(of: self).json["aps"]?["alert"] ?? [:]
        return alert.stringValue == nil ? alert : ["body": alert]
    }
}

extension SimulatedPhone.AppState {
    fileprivate var name: String {
        switch self {
        case .absent: "absent"
        case .foreground: "foreground"
        case .suspended: "suspended"
        case .terminated: "terminated"
        case .forceQuit: "force-quit"
        }
    }
}

extension SimulatedPhone.Card {
    /// The card as the HTTP interface shows it.
    package var json: JSONValue {
        let stateName =
            switch state {
            case .active: "active"
            case .stale: "stale"
            case .ended: "ended"
            }
        return [
            "id": .string(id), "surface": .string(surface), "state": .string(stateName),
            "started-at-ms": .integer(startedAt.millisecondsSince1970),
            "started-by": isStartedByPush ? "push" : "app", "content-state": content,
        ]
    }
}
