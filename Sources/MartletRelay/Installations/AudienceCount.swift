// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// A count of the installations that match an expression, and of those that a push would reach.
struct AudienceCount {
    /// The number of installations after which a count ends.
    static let limit = 100_000
    static let members = ["where", "push-type", "attributes-type", "control"]
    /// The number of installations that are examined at once, so that other calls need not wait for long.
    private static let step = 200

    private let app: RelayConfiguration.App
    private let need: PushNeed
    private var scan: AudienceScan
    private var matched = 0
    private var leftOut: [LeftOutReason: Int] = [:]
    private var isComplete = false

    /// Reads a request; the error names the member, its value and the rule.
    init(_ body: JSONField<APIProblem>, of app: RelayConfiguration.App) throws(APIProblem) {
        let expression = try body["where"].parsed { (text) throws(AudienceExpressionError) in
            try AudienceExpression(text)
        }
        self.app = app
        need = try AudienceCount.need(body)
        scan = AudienceScan(expression, of: app.name, need.slot)
    }

    private static func need(_ body: JSONField<APIProblem>) throws(APIProblem) -> PushNeed {
        let type = PushType(rawValue: try body["push-type"].ifPresent?.nonemptyText() ?? PushType.alert.rawValue)
        for (name, owner) in [("attributes-type", PushType.liveActivity), ("control", PushType.controls)] {
            guard !body[name].isPresent || type == owner else {
                throw body[name].error("must be left out unless push-type is \(owner.rawValue)")
            }
        }
        switch type {
        case .liveActivity: return .start(try TextRule.tokenName.text(of: body["attributes-type"]))
        case .controls: return .control(try TextRule.tokenName.text(of: body["control"]))
        default:
            guard let need = PushNeed(type) else {
                throw body["push-type"].mismatch("alert, background, widgets, controls or liveactivity")
            }
            return need
        }
    }

    /// Counts the installations of an outbox until all, or as many as the limit, have been examined.
    mutating func run(in context: RelayContext, limit: Int = AudienceCount.limit) async throws(OutboxError) {
        let store = context.outbox.installations
        var examined = 0
        while !isComplete, examined < limit {
            let (scan, step) = (self.scan, min(AudienceCount.step, limit - examined))
            let page = try await context.read { () async throws(OutboxError) in
                try await store.audiencePage(of: scan, limit: step)
            }.get()
            examined += page.examined
            matched += page.members.count
            for member in page.members {
                if let reason = need.leftOutReason(of: member, in: app) { leftOut[reason, default: 0] += 1 }
            }
            if let next = page.next { self.scan.cursor = next } else { isComplete = true }
        }
    }

    /// The numbers for the answer of the API, which are too small when the count is not complete.
    var json: JSONValue {
        [
            "matched": .whole(matched), "reachable": .whole(matched - leftOut.values.reduce(0, +)),
            "left-out": leftOut.json, "complete": .bool(isComplete),
        ]
    }
}
