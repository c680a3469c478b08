// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import MartletCommands

extension Command {
    /// Sends a notification or a snapshot to one or more devices.
    static let send = Command(
        "send",
        "Send a notification to one or more devices, and print each answer",
        examples: [
            "send --host localhost:2197 --ca ~/.local/share/martlet/ca.pem --to 5d3a6a1c8f9a42d6 "
                + "--topic com.example.app --title \"Order ready\" --body \"Tap to open.\"",
            "send --environment production --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ "
                + "--to 5d3a6a1c8f9a42d6 --topic com.example.app --background --custom '{\"sync\":true}'",
            "send --host localhost:2197 --to 5d3a6a1c8f9a42d6 --topic com.example.app --payload - < payload.json",
            "send --host localhost:2197 --to 5d3a6a1c8f9a42d6 --topic com.example.app --snapshot order.json "
                + "--as update",
            "send --host localhost:2197 --tokens devices.csv --topic com.example.app --title \"Order ready\" "
                + "--results results.jsonl --unregistered-tokens unregistered.csv",
        ],
        Option<[DeviceToken]>("--to", "Device token, hexadecimal"),
        SendManyOptions.declared,
        Option<String>.topic,
        NotificationOptions.declared,
        SnapshotOptions.declared,
        ServerOptions.declared,
        Flag(
            "--describe",
            "Print the request and its findings without sending it, with no key; exit 1 if APNs would refuse it"
        ),
        OutputFormat.declared
    ) { tokens, many, topic, notification, snapshot, server, isDescription, output in
        let topic = Topic(topic)
        if let list = many.list {
            guard tokens.isEmpty, !isDescription, try snapshot.snapshot() == nil else {
                throw UsageError("--tokens excludes --to, --describe and --snapshot")
            }
            let many = SendMany(list: list, options: many, notification: notification, topic: topic, output: output)
            return try await many.options.isDryRun
                ? many.check() : many.run(server, isChecked: !notification.isUnchecked)
        }
        guard !tokens.isEmpty else { throw UsageError("the device is missing: give --to or --tokens") }
        guard many.isEmpty else {
            throw UsageError(
                "--results, --unregistered-tokens, --rate, --resume, --skip-bad-lines and --dry-run need --tokens"
            )
        }
        let subject: Subject
        if let snapshot = try snapshot.snapshot() {
            guard notification.isEmpty else {
                throw UsageError("--snapshot excludes the options for notifications")
            }
            subject = .snapshot(try snapshot.with(notification.headers))
        } else {
            subject = .notification(try notification.notification())
        }
        let client = try server.client(checksBeforeSending: !notification.isUnchecked, isSending: !isDescription)
        guard !isDescription else {
            var isValid = true
            for token in tokens {
                let description = try subject.describe(to: token, topic: topic, client)
                output.write(json: description.json, text: description.text)
                if description.findings.contains(where: { $0.reasonNotToSend != nil }) { isValid = false }
            }
            guard isValid else { throw CommandFailure() }
            return
        }
        try? subject.describe(to: tokens[0], topic: topic, client).printNotes()
        let answers = await answers(to: tokens) { (token) throws(APNsError) in
            try await subject.send(to: token, topic: topic, client)
        }
        await client.close()
        Terminal.output.write(output.isJSON ? answers.map(\.json.line).joined() : table(of: answers))
        let errors = answers.compactMap(\.error)
        if !output.isJSON, let hint = errors.lazy.compactMap(server.hint).first { Terminal.errors.write(hint + "\n") }
        if subject.updatesActivities { try await LiveTimestamp.waitForNext() }
        if let status = errors.map(ExitStatus.init(of:)).max() { throw CommandFailure(status) }
    }

    /// Sends to all devices concurrently; the answers are in the order of the devices.
    private static func answers(
        to tokens: [DeviceToken],
        _ send: @escaping @Sendable (DeviceToken) async throws(APNsError) -> PushReceipt
    ) async -> [SendAnswer] {
        await withTaskGroup(of: (Int, SendAnswer).self) { group in
            for (index, token) in tokens.enumerated() {
                group.addTask {
                    // Not within the tuple: see `late_awaits` in Scripts/checks/source.py.
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
            return SendAnswer(token: token, result: .success(receipt))
        } catch {
            return SendAnswer(token: token, result: .failure(error))
        }
    }

    private static func table(of answers: [SendAnswer]) -> String {
        var table = Table(["to", Table.Column("status", isNumeric: true), "apns-id", "answer"])
        for answer in answers { table.add(answer.cells) }
        return table.text(for: .output)
    }
}

/// The content that is sent to every device.
private enum Subject: Sendable {
    case notification(PushNotification)
    case snapshot(SnapshotOptions.Snapshot)

    /// Whether the content gets the current time as a timestamp that must be later than the one before.
    var updatesActivities: Bool {
        guard case .snapshot(let snapshot) = self, snapshot.delivery.timestamp == nil else { return false }
        return snapshot.role == .update || snapshot.role == .end
    }

    func send(to token: DeviceToken, topic: Topic, _ client: PushClient) async throws(APNsError) -> PushReceipt {
        switch self {
        case .notification(let notification): try await client.send(notification, to: token, topic: topic)
        case .snapshot(let snapshot):
            try await client.send(
                snapshot.content,
                to: snapshot.role.destination(token),
                topic: topic,
                delivery: snapshot.delivery
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
                delivery: snapshot.delivery
            )
        }
    }
}

/// The answer to a push to one device.
private struct SendAnswer: Sendable {
    let token: DeviceToken
    let result: Result<PushReceipt, APNsError>

    /// The error if the push was not accepted; nil if it was.
    var error: APNsError? {
        if case .failure(let error) = result { error } else { nil }
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

    /// The answer as JSON, with the whole token.
    var json: JSONValue {
        let destination = JSONValue.Member("device-token", .string(token.hex))
        return switch result {
        case .success(let receipt): receipt.json(to: destination)
        case .failure(let error): .object([destination] + error.members)
        }
    }
}
