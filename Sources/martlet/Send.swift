import APNsClient
import Commands
import LiveSurfaces

extension Command {
    /// Sends one notification to one or several devices.
    static let send = Command(
        "send",
        "Send a notification and show the answer to each",
        examples: [
            "send --host localhost:2197 --ca ~/.local/share/martlet/ca.pem \\\n"
                + "      --to 5d3a6a1c8f9a42d6 --topic com.example.app --title \"Order ready\" --body \"Tap to open.\"",
            "send --environment production --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ \\\n"
                + "      --to 5d3a6a1c8f9a42d6 --topic com.example.app --background --custom '{\"sync\":true}'",
            "send --host localhost:2197 --to 5d3a6a1c8f9a42d6 --topic com.example.app --payload - < payload.json",
            "send --host localhost:2197 --to 5d3a6a1c8f9a42d6 --topic com.example.app \\\n"
                + "      --snapshot order.json --as update",
            "send --host localhost:2197 --tokens devices.csv --topic com.example.app --title \"Order ready\" \\\n"
                + "      --results results.jsonl --dead-tokens dead.csv",
        ],
        Option<[DeviceToken]>("--to", "Device token, hexadecimal"),
        SendManyOptions.declared,
        Option<String>("--topic", "The app's bundle identifier"),
        NotificationOptions.declared,
        SnapshotOptions.declared,
        ServerOptions.declared,
        Flag("--unchecked", "Leave all checking to the server"),
        Flag("--describe", "Show the request and what the rules say of it, and send nothing"),
        Flag("--json", "Print one JSON object per device")
    ) { tokens, many, topic, notification, snapshot, server, isUnchecked, isDescription, isJSON in
        let topic = Topic(topic)
        if let list = many.list {
            guard tokens.isEmpty, !isDescription, try snapshot.snapshot() == nil else {
                throw UsageError("--tokens goes with a notification, and without --to and --describe")
            }
            let many = SendMany(list: list, options: many, notification: notification, topic: topic, isJSON: isJSON)
            if many.options.isDryRun {
                try await many.check()
            } else {
                let client = try server.client(checksBeforeSending: !isUnchecked)
                try await many.run(client)
                await client.close()
            }
            return
        }
        guard !tokens.isEmpty else { throw UsageError("whom it is for is missing: give --to or --tokens") }
        guard many.isEmpty else { throw UsageError("--results, --resume and the like go with --tokens") }
        let subject: Subject
        if let snapshot = try snapshot.snapshot() {
            guard notification.isEmpty else {
                throw UsageError("--snapshot says what is sent: leave the options of notifications out")
            }
            subject = .snapshot(snapshot)
        } else {
            subject = .notification(try notification.notification())
        }
        let client = try server.client(checksBeforeSending: !isUnchecked)
        guard !isDescription else {
            for token in tokens {
                Terminal.output.write(try subject.describe(to: token, topic: topic, client).text)
            }
            return
        }
        let answers = await answers(to: tokens) { (token) throws(APNsError) in
            try await subject.send(to: token, topic: topic, client)
        }
        await client.close()
        Terminal.output.write(isJSON ? answers.map { $0.json + "\n" }.joined() : table(of: answers))
        if answers.contains(where: { !$0.isAccepted }) { throw CommandFailure() }
    }

    /// Sends to all devices at once; the answers come in the order of the devices.
    private static func answers(
        to tokens: [DeviceToken],
        _ send: @escaping @Sendable (DeviceToken) async throws(APNsError) -> PushReceipt
    ) async -> [SendAnswer] {
        await withTaskGroup(of: (Int, SendAnswer).self) { group in
            for (index, token) in tokens.enumerated() {
                group.addTask {
                    // Not within the tuple: see Scripts/check-awaits.
                    let answer = await answer(to: token, send)
                    return (index, answer)
                }
            }
            var answers: [Int: SendAnswer] = [:]
            for await (index, answer) in group { answers[index] = answer }
            return tokens.indices.compactMap { answers[$0] }
        }
    }

    private static func answer(
        to token: DeviceToken,
        _ send: (DeviceToken) async throws(APNsError) -> PushReceipt
    ) async -> SendAnswer {
        do throws(APNsError) {
            let receipt = try await send(token)
            return SendAnswer(token, receipt)
        } catch {
            return SendAnswer(token, error)
        }
    }

    private static func table(of answers: [SendAnswer]) -> String {
        var table = Table(["to", Table.Column("status", isNumeric: true), "apns-id", "answer"])
        for answer in answers { table.add(answer.cells) }
        return table.text(for: .output)
    }
}

/// What is sent to every device.
private enum Subject: Sendable {
    case notification(PushNotification)
    case snapshot(SnapshotOptions.Snapshot)

    func send(to token: DeviceToken, topic: Topic, _ client: PushClient) async throws(APNsError) -> PushReceipt {
        switch self {
        case .notification(let notification): try await client.send(notification, to: token, topic: topic)
        case .snapshot(let snapshot):
            try await client.send(
                snapshot.content,
                to: snapshot.role.destination(token),
                topic: topic,
                delivery: SurfaceDelivery(categories: snapshot.categories)
            )
        }
    }

    func describe(to token: DeviceToken, topic: Topic, _ client: PushClient) throws(APNsError) -> RequestDescription {
        switch self {
        case .notification(let notification): try client.describe(notification, to: token, topic: topic)
        case .snapshot(let snapshot):
            try client.describe(
                snapshot.content,
                to: snapshot.role.destination(token),
                topic: topic,
                delivery: SurfaceDelivery(categories: snapshot.categories)
            )
        }
    }
}

extension RequestDescription {
    /// The request as people read it, the device token shortened.
    fileprivate var text: String {
        var table = Table(["part of the payload", Table.Column("bytes", isNumeric: true)])
        for part in parts { table.add([Table.Cell(part.pointer), Table.Cell("\(part.byteCount)")]) }
        table.add([Table.Cell("altogether"), Table.Cell("\(body.count)")])
        let left = bytesLeft.map { $0 < 0 ? "\(-$0) bytes too many\n" : "\($0) bytes left\n" } ?? ""
        let findings = findings.map { "\($0.severity.rawValue): \($0.place): \($0.message)\n" }
        let fields = fields.map { field in
            let isPath = field.name == ":path"
            let token = isPath ? try? DeviceToken(hex: field.value.split(separator: "/").last ?? "") : nil
            return "\(field.name): \(token.map { "/3/device/\($0)" } ?? field.value)\n"
        }
        return fields.joined() + "\n" + String(decoding: body, as: UTF8.self) + "\n\n"
            + table.text(for: .output) + left + findings.joined()
    }
}

/// What came of sending to one device.
private struct SendAnswer: Sendable {
    private let token: DeviceToken
    private let result: Result<PushReceipt, APNsError>

    init(_ token: DeviceToken, _ receipt: PushReceipt) {
        self.token = token
        result = .success(receipt)
    }

    init(_ token: DeviceToken, _ error: APNsError) {
        self.token = token
        result = .failure(error)
    }

    var isAccepted: Bool {
        if case .success = result { true } else { false }
    }

    var cells: [Table.Cell] {
        switch result {
        case .success(let receipt):
            [
                Table.Cell("\(token)"), Table.Cell("200", .good), Table.Cell("\(receipt.id)"),
                Table.Cell(receipt.uniqueID.map { "accepted, apns-unique-id \($0)" } ?? "accepted"),
            ]
        case .failure(let error):
            [
                Table.Cell("\(token)"), Table.Cell(error.status.map(String.init) ?? "-", .bad),
                Table.Cell(error.id?.description ?? "-"), Table.Cell(error.description),
            ]
        }
    }

    /// For programs: the whole token, since they have to know whose answer it is.
    var json: String {
        var members: [JSONValue.Member] = [.init("device-token", .string(token.hex))]
        switch result {
        case .success(let receipt):
            members.append(.init("status", 200))
            members.append(.init("apns-id", .string(receipt.id.description)))
            if let uniqueID = receipt.uniqueID { members.append(.init("apns-unique-id", .string(uniqueID))) }
        case .failure(let error):
            if let status = error.status { members.append(.init("status", .number(JSONNumber(status)))) }
            if let id = error.id { members.append(.init("apns-id", .string(id.description))) }
            if let reason = error.reason { members.append(.init("reason", .string(reason.rawValue))) }
            if let timestamp = error.unregisteredAt?.millisecondsSince1970 {
                members.append(.init("timestamp", .number(JSONNumber(timestamp))))
            }
            members.append(.init("error", .string(error.code.description)))
            members.append(.init("message", .string(error.description)))
        }
        return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
    }
}
