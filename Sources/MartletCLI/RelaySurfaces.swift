// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

extension Command {
    /// Lists the surfaces of an app, and shows the installations of one.
    static let relaySurfaces = Command(
        "relay surfaces",
        "List the surfaces of an app, or show what each phone of one is assumed to show",
        examples: [
            "relay surfaces --app orders --key-file operator.key",
            "relay surfaces show --app orders --id order-7 --key-file operator.key",
            "relay surfaces show --app orders --id order-7 --limit 1000 --key-file operator.key",
        ],
        Argument<SurfaceAction?>("list|show", "Action; list by default"),
        Option<AppName>("--app", "Name of the app in the relay"),
        Option<SurfaceID?>("--id", "Identifier of the surface to show"),
        Option<PositiveNumber?>("--limit", "Maximum number of surfaces or installations; 100 by default"),
        Option<NonnegativeNumber?>("--after", "Cursor of an earlier answer, after which the list continues"),
        RelayClient.declared,
        OutputFormat.declared
    ) { action, app, id, limit, after, relay, output in
        var path = "/v1/apps/\(app.text)/surfaces"
        guard action == .show else {
            guard id == nil else { throw UsageError("--id requires show") }
            let list = try await SurfaceList("surfaces", at: path, after, limit, relay)
            guard !output.isJSON else { return Terminal.output.write(JSONValue.object(list.members).line) }
            Terminal.output.write(list.surfaceTable)
            return list.reportMore()
        }
        guard let id else { throw UsageError("show requires --id") }
        path += "/\(id.encoded)"
        let surface = try await relay.send("GET", path)
        let list = try await SurfaceList("installations", at: path + "/installations", after, limit, relay)
        guard !output.isJSON else {
            return Terminal.output.write(JSONValue.object((surface.members ?? []) + list.members).line)
        }
        let facts = surface.lines(of: ["id", "state", "problem", "revision", "changed-at", "spreading"])
        let audience = surface.audience.isEmpty ? "" : "audience: \(surface.audience)\n"
        Terminal.output.write(facts + audience + list.installationTable)
        list.reportMore()
    }
}

/// A part of a list of surfaces, or of the installations of a surface.
private struct SurfaceList: Sendable {
    /// The maximum number of entries in an answer of the relay.
    private static let longestPage = 200

    private let entries: [JSONValue]
    /// The entries and the cursor as in an answer of the relay.
    let members: [JSONValue.Member]
    private let cursor: Int64
    private let isLimited: Bool

    /// Reads the entries after a cursor, in pages.
    ///
    /// - Parameters:
    ///   - name: The member with the entries in an answer.
    ///   - path: The path of the list.
    ///   - after: The cursor; nil for the beginning.
    ///   - limit: The maximum number of entries; nil for 100.
    ///   - relay: The relay.
    /// - Throws: The errors of ``RelayClient/send(_:_:_:within:orStatus:)``.
    init(
        _ name: String,
        at path: String,
        _ after: NonnegativeNumber?,
        _ limit: PositiveNumber?,
        _ relay: RelayClient
    ) async throws {
        let limit = limit?.value ?? 100
        var cursor = Int64(after?.value ?? 0)
        var entries: [JSONValue] = []
        while entries.count < limit {
            let size = min(limit - entries.count, Self.longestPage)
            let page = try await relay.send("GET", "\(path)?after=\(cursor)&limit=\(size)")
            let found = page[name]?.elements ?? []
            entries += found
            cursor = page["cursor"]?.integerValue ?? cursor
            guard found.count == size else { break }
        }
        self.entries = entries
        self.cursor = cursor
        isLimited = entries.count >= limit
        members = [JSONValue.Member(name, .array(entries)), JSONValue.Member("cursor", .integer(cursor))]
    }

    /// The surfaces as a table, with the texts of any length in the last columns.
    var surfaceTable: String {
        var table = Table([
            "surface", "state", Table.Column("revision", isNumeric: true), "changed", "spreading", "audience",
            "problem",
        ])
        for surface in entries {
            table.add([
                surface.cell("id"), surface.cell("state"), surface.cell("revision"),
                Table.Cell(surface.time("changed-at")), surface.cell("spreading"), Table.Cell(surface.audience),
                surface.cell("problem"),
            ])
        }
        return table.text(for: .output)
    }

    /// The installations as a table, with a row for each kind of a surface on each installation.
    var installationTable: String {
        // A key without the scope installations is not shown the users.
        let places = entries.contains { $0["user"] != nil } ? ["user", "installation"] : ["installation"]
        var table = Table(
            places.map { Table.Column($0) } + [
                "kind", "state", Table.Column("desired", isNumeric: true), Table.Column("assumed", isNumeric: true),
                "since", "reason",
            ]
        )
        for installation in entries {
            let place = places.map { installation.cell($0) }
            let kinds = installation["kinds"]?.members ?? []
            // A phone of a withdrawn surface may have nothing of it.
            if kinds.isEmpty { table.add(place) }
            for kind in kinds {
                let account = kind.value
                let since = account["since"] == nil ? "" : account.time("since")
                let reason = [account["reason"]?.shown, account["detail"]?.shown].compactMap(\.self)
                let state = [
                    Table.Cell(kind.name), account.cell("state"), account.cell("desired-revision"),
                    account.cell("assumed-revision"), Table.Cell(since), Table.Cell(reason.joined(separator: ": ")),
                ]
                table.add(place + state)
            }
        }
        return table.text(for: .output)
    }

    /// Reports that the list may continue, if the limit has ended it.
    func reportMore() {
        if isLimited { Command.reportMore("--after", cursor) }
    }
}

extension JSONValue {
    /// The audience of a surface; empty if the key may not read it.
    fileprivate var audience: String {
        (self["to"]?.members ?? []).map { "\($0.name) \($0.value.shown)" }.joined(separator: ", ")
    }
}

/// The actions on surfaces.
enum SurfaceAction: String, CaseIterable, ArgumentValue {
    case list
    case show
}

/// The identifier of a surface.
struct SurfaceID: ArgumentValue {
    /// The identifier, percent-encoded for a path.
    let encoded: String

    init(argument: String) throws(UsageError) {
        guard 1...120 ~= argument.utf8.count, argument.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw UsageError("must be 1 to 120 visible ASCII characters (found \(ShownValue.quoted(argument)))")
        }
        encoded = argument.utf8.map { (byte) -> String in
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved = character.isLetter || character.isNumber || "-._~".contains(character)
            return isUnreserved ? String(character) : "%" + String(byte, radix: 16, uppercase: true)
        }
        .joined()
    }

    static var valueName: String { "text" }
}
