// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// A count of the installations that match an expression, of those that a push would reach, and of those that have
/// reported the same values.
struct AudienceCount {
    /// The number of installations after which a count ends.
    static let limit = 100_000
    /// The maximum number of versions in the answer: phones report any texts.
    static let versionLimit = 20
    static let members = ["where", "push-type", "attributes-type", "control"]
    /// The number of installations that are examined at once, so that other calls need not wait for long; the steps of
    /// a caller's counts are made one after the other.
    private static let step = 200

    private let app: RelayConfiguration.App
    private let need: PushNeed
    private var scan: AudienceScan
    private var matched = 0
    private var leftOut: [LeftOutReason: Int] = [:]
    private var environments: [PushEnvironment: Int] = [:]
    /// The numbers by version; the key nil has those of installations that have reported none.
    private var appVersions: [String?: Int] = [:]
    private var systemVersions: [String?: Int] = [:]
    private var permissions: [Installation.Permission: [Bool: Int]] = [:]
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

    /// Counts the installations of an outbox for a caller until all, or as many as the limit, have been examined.
    mutating func run(
        in context: RelayContext,
        for caller: String,
        limit: Int = AudienceCount.limit
    ) async throws(OutboxError) {
        let store = context.outbox.installations
        var examined = 0
        while !isComplete, examined < limit {
            let (scan, step) = (self.scan, min(AudienceCount.step, limit - examined))
            let page = try await context.readAlone(for: caller) { () async throws(OutboxError) in
                try await store.audiencePage(of: scan, limit: step)
            }.get()
            examined += page.examined
            for member in page.members { add(member) }
            if let next = page.next { self.scan.cursor = next } else { isComplete = true }
        }
    }

    private mutating func add(_ member: AudienceMember) {
        matched += 1
        if let reason = need.leftOutReason(of: member, in: app) { leftOut[reason, default: 0] += 1 }
        environments[member.environment, default: 0] += 1
        appVersions[member.appVersion, default: 0] += 1
        systemVersions[member.systemVersion, default: 0] += 1
        for (permission, isGranted) in member.permissions {
            permissions[permission, default: [:]][isGranted, default: 0] += 1
        }
    }

    /// The numbers for the answer of the API, which are too small when the count is not complete.
    var json: JSONValue {
        let environments = PushEnvironment.allCases.compactMap { environment in
            self.environments[environment].map { JSONValue.Member(environment.rawValue, .whole($0)) }
        }
        let permissions = Installation.Permission.allCases.map { permission in
            let counts = self.permissions[permission] ?? [:]
            let numbers: JSONValue = [
                "granted": .whole(counts[true, default: 0]), "denied": .whole(counts[false, default: 0]),
            ]
            return JSONValue.Member(permission.rawValue, numbers)
        }
        return [
            "matched": .whole(matched), "reachable": .whole(matched - leftOut.values.reduce(0, +)),
            "left-out": leftOut.json, "complete": .bool(isComplete), "environments": .object(environments),
            "app-versions": AudienceCount.list(appVersions), "system-versions": AudienceCount.list(systemVersions),
            "permissions": .object(permissions),
        ]
    }

    /// Returns the most frequent versions with their numbers of installations.
    private static func list(_ counts: [String?: Int]) -> JSONValue {
        let sorted = counts.sorted { ($1.value, $0.key ?? "") < ($0.value, $1.key ?? "") }
        return .array(
            sorted.prefix(versionLimit).map { version, count in
                JSONValue.members(["version": version.map { .string($0) }, "installations": .whole(count)])
            }
        )
    }
}
