// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer

extension SurfaceContent {
    static let members = ["snapshots", "priority", "attributes-type", "control", "channel"]
    /// The maximum size in bytes of the members of a request: that of six pushes, and members that phones do not get.
    static let byteLimit = 32 << 10

    /// Reads the members of a request or of the stored form; the error has the place of the first mistake.
    init(_ body: JSONField<APIProblem>) throws(APIProblem) {
        let fields = try body["snapshots"].elements()
        let limit = SurfaceKind.allCases.count
        guard (1...limit).contains(fields.count) else {
            throw body["snapshots"].error("must have 1 to \(limit) elements, one of each kind (found \(fields.count))")
        }
        var snapshots: [SurfaceSnapshot] = []
        for field in fields {
            let snapshot: SurfaceSnapshot
            do throws(SurfaceError) {
                snapshot = try SurfaceSnapshot(field.value ?? .null)
            } catch {
                throw APIProblem(error, in: field.path)
            }
            guard !snapshots.contains(where: { $0.kind == snapshot.kind }) else {
                throw field["kind"].mismatch("another kind than those of the snapshots before it")
            }
            snapshots.append(snapshot)
        }
        let (attributesType, channel) = (body["attributes-type"], body["channel"])
        let hasActivity = snapshots.contains { $0.kind == .liveActivity }
        for member in [attributesType, channel] where member.isPresent && !hasActivity {
            throw member.error("must be left out without the snapshot of a Live Activity")
        }
        let control = body["control"]
        guard snapshots.contains(where: { $0.kind == .control }) || !control.isPresent else {
            throw control.error("must be left out without the snapshot of a control")
        }
        let priority = try body["priority"].ifPresent?.surfacePriority()
        let name = try attributesType.isPresent ? TextRule.tokenName.text(of: attributesType) : nil
        self.init(
            snapshots: snapshots,
            isUrgent: priority != .powerAware,
            attributesType: name ?? SurfaceActivityAttributes.attributesType,
            control: try control.isPresent ? TextRule.tokenName.text(of: control) : nil,
            channel: try channel.isPresent ? SurfaceChannel(channel) : nil
        )
    }

    /// Reads the stored form.
    ///
    /// The error is that another version of the relay has stored it, which knows other snapshots.
    init(stored: [UInt8]) throws(APIProblem) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(stored)
        } catch {
            throw APIProblem(503, "the stored surface \(error.rule): \(error)")
        }
        try self.init(JSONField<APIProblem>(json, named: "the stored surface"))
        unchanged = UnchangedKinds(json["unchanged"])
    }

    /// The members of a request, with the snapshots in the order of the kinds.
    var json: JSONValue {
        .members([
            "snapshots": .array(SurfaceKind.allCases.compactMap { snapshot($0)?.json }),
            "priority": .integer(isUrgent ? 10 : 5),
            "attributes-type": snapshot(.liveActivity) == nil ? nil : .string(attributesType),
            "control": control.map { .string($0) }, "channel": channel?.json,
        ])
    }

    /// The JSON that the outbox stores.
    var stored: [UInt8] { json.merging(.members(["unchanged": unchanged.json])).encoded() }
}
