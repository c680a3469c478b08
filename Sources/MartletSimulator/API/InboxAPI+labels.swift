// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of the query language, and of tags and pins.
    static let labelRoutes: [Route] = [
        Route("GET", "/api/v1/query", "Describe the query language: its names, values and examples") { _ in
            .json(["fields": .array(PushQuery.Field.allCases.map(\.json))])
        },
        Route.action(
            "PUT",
            "/api/v1/pushes/{number}/tags",
            "Set the tags of a push (tags: up to 20 texts), and whether it stays stored (pinned)"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["tags", "pinned"])
            let tags = try body["tags"].ifPresent.map(PushLabels.readTags)
            let isPinned = try body["pinned"].ifPresent?.bool()
            let number = try await push(call).number
            guard await call.simulator.inbox.label(number, tags: tags, isPinned: isPinned) else {
                throw APIProblem(409, "\(PushLabels.pinLimit) pushes are pinned already: unpin some first")
            }
        },
    ]

    /// Sets the nickname of a device; nil removes it.
    ///
    /// - Returns: Whether the number of nicknames permits it.
    static func setName(_ name: String?, of token: DeviceToken, in simulator: SimulatedAPNs) async -> Bool {
        guard await simulator.inbox.setName(name, ofDevice: token.hex) else { return false }
        await simulator.archive.save(name: name, ofDevice: token.hex)
        return true
    }

    /// Adds the pushes of an export, and the nicknames of devices that have none.
    ///
    /// - Returns: The number of the last push in the inbox.
    static func add(_ records: [JSONValue], to simulator: SimulatedAPNs) async -> Int {
        for record in records {
            guard let name = PushLabels(record: APIField(record, named: "")).deviceName,
                let token = try? DeviceToken(hex: record["device-token"]?.stringValue ?? ""),
                await simulator.inbox.names[token.hex] == nil
            else { continue }
            _ = await setName(name, of: token, in: simulator)
        }
        return await simulator.inbox.add(records)
    }
}
