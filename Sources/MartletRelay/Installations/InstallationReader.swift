// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A request of a back end for a ticket.
struct TicketRequest {
    let user: String
    let tags: Set<String>
    /// The time for which the ticket is valid.
    let seconds: Int64
    let isSingleUse: Bool

    /// Reads a request; the error names the member, its value and the rule.
    init(_ body: InstallationReader.Field) throws(InstallationError) {
        try body.checkMembers(["user", "tags", "seconds", "single-use"])
        user = try TextRule.user.text(of: body["user"])
        tags = if let field = body["tags"].ifPresent { try InstallationReader.tags(field) } else { [] }
        seconds =
            try body["seconds"].ifPresent?.integer(in: InstallationReader.ticketTimes) ?? InstallationReader.ticketTime
        isSingleUse = try body["single-use"].ifPresent?.bool() ?? true
    }
}

/// A reader of installations and changes of them in JSON.
///
/// A change is a JSON Merge Patch (RFC 7396): a missing member is unchanged, and null removes.
struct InstallationReader {
    typealias Field = JSONField<InstallationError>

    /// The maximum number of tags of an installation.
    static let tagLimit = 50
    /// Returns the maximum number of names of a kind in one change, with those that null removes.
    ///
    /// A change that replaces all tokens of a kind by as many new ones has twice the limit of the kind.
    static func nameLimit(of kind: Installation.TokenKind) -> Int { 2 * kind.limit }

    /// The time for which a ticket is valid, in seconds, and the default.
    static let ticketTimes: ClosedRange<Int64> = 1...86_400
    static let ticketTime: Int64 = 600

    /// The members that an app may change.
    static let appMembers =
        ["environment", "bundle-id", "tokens", "activities"] + Installation.Attribute.allCases.map(\.rawValue)
        + ["permissions"]

    /// The members of `tokens`, with their kinds; the token of an activity is a member of the activity.
    static let tokenMembers: [(name: String, kind: Installation.TokenKind)] = [
        ("device", .device), ("start", .start), ("widgets", .widgets), ("controls", .control),
    ]

    /// The app that the installation belongs to.
    let app: RelayConfiguration.App

    // MARK: Changes

    /// Returns a change of an installation.
    ///
    /// - Parameters:
    ///   - body: The change.
    ///   - author: The origin of the request: only a back end changes tags.
    ///   - others: Further members of the body, which the caller reads.
    /// - Returns: The change.
    /// - Throws: ``InstallationError`` that names the member, its value and the rule.
    func change(
        of body: Field,
        by author: InstallationChange.Author,
        besides others: [String] = []
    ) throws(InstallationError) -> InstallationChange {
        for name in ["user", "tags"] where author == .app && body[name].isPresent {
            throw body[name].error("can only be set by the back end")
        }
        try body.checkMembers(Self.appMembers + others + (author == .backEnd ? ["tags"] : []))
        var change = InstallationChange()
        if let field = body["environment"].ifPresent { change.environment = try environment(field) }
        if let field = body["bundle-id"].ifPresent { change.bundleID = try bundleID(field) }
        if let field = body["tokens"].ifPresent { try readTokens(field, into: &change) }
        if let field = body["activities"].ifPresent { try readActivities(field, into: &change) }
        for attribute in Installation.Attribute.allCases {
            guard let field = body[attribute.rawValue].ifPresent else { continue }
            let text: String? = try field.value == .null ? nil : TextRule.attribute(attribute).text(of: field)
            change.attributes.updateValue(text, forKey: attribute)
        }
        if let field = body["permissions"].ifPresent { try readPermissions(field, into: &change) }
        if let field = body["tags"].ifPresent { change.tags = try Self.tags(field) }
        return change
    }

    private func environment(_ field: Field) throws(InstallationError) -> PushEnvironment {
        let environment = try field.choice(of: PushEnvironment.self)
        guard app.environments.contains(environment) else {
            let known = app.environments.map(\.rawValue).joined(separator: " or ")
            throw field.mismatch("\(known), for which the app \(app.name) is configured")
        }
        return environment
    }

    private func bundleID(_ field: Field) throws(InstallationError) -> String {
        let bundleID = try field.nonemptyText()
        // Does not name the bundle identifiers of the app, because phones do not need to know them.
        guard app.bundleIDs.contains(bundleID) else {
            throw field.mismatch("a bundle identifier of the app \(app.name)")
        }
        return bundleID
    }

    private func readTokens(_ field: Field, into change: inout InstallationChange) throws(InstallationError) {
        try field.checkMembers(Self.tokenMembers.map(\.name))
        for (name, kind) in Self.tokenMembers {
            guard let tokens = field[name].ifPresent else { continue }
            if tokens.value == .null {
                change.removedKinds.insert(kind)
            } else if kind.hasNames {
                for (name, field) in try members(of: tokens, limit: Self.nameLimit(of: kind)) {
                    change.tokens.updateValue(try token(field), forKey: Installation.TokenSlot(kind, name))
                }
            } else {
                change.tokens.updateValue(try token(tokens), forKey: Installation.TokenSlot(kind))
            }
        }
    }

    /// Returns the members of an object by the names of tokens or activities.
    func members(of field: Field, limit: Int) throws(InstallationError) -> [(name: String, field: Field)] {
        let count = field.value?.members?.count ?? 0
        // Before any work on the names, because a body has room for thousands of them.
        guard count <= limit else {
            throw field.error("must have at most \(limit) names in one change (found \(count))")
        }
        guard let members = field.members else { throw field.mismatch("an object or null") }
        guard members.allSatisfy({ TextRule.tokenName.accepts($0.name) }) else {
            throw field.error("must have names that are \(TextRule.tokenName)")
        }
        return members
    }

    /// Returns a token; nil to remove it.
    func token(_ field: Field) throws(InstallationError) -> DeviceToken? {
        guard field.value != .null else { return nil }
        return try field.parsed { (text) throws(DeviceTokenError) in try DeviceToken(hex: text) }
    }

    private func readPermissions(_ field: Field, into change: inout InstallationChange) throws(InstallationError) {
        guard field.value != .null else {
            let all = Installation.Permission.allCases
            change.permissions = Dictionary(uniqueKeysWithValues: all.map { ($0, nil) })
            return
        }
        try field.checkMembers(Installation.Permission.allCases.map(\.rawValue))
        for permission in Installation.Permission.allCases {
            guard let flag = field[permission.rawValue].ifPresent else { continue }
            let isGiven: Bool? = try flag.value == .null ? nil : flag.bool()
            change.permissions.updateValue(isGiven, forKey: permission)
        }
    }

    /// Returns tags without duplicates.
    static func tags(_ field: Field) throws(InstallationError) -> Set<String> {
        guard field.value != .null else { return [] }
        let count = field.value?.elements?.count ?? 0
        guard count <= tagLimit else { throw field.error("must have at most \(tagLimit) tags (found \(count))") }
        var tags: Set<String> = []
        for element in try field.elements() { tags.insert(try TextRule.tag.text(of: element)) }
        return tags
    }

    /// Returns the secret of the installation that an enrollment replaces; nil for none.
    ///
    /// Text that is no secret is as harmless as an unknown one.
    static func replacedSecret(_ field: Field) throws(InstallationError) -> RandomSecret? {
        guard let field = field.ifPresent, field.value != .null else { return nil }
        return RandomSecret(try field.text(), .installation)
    }

    /// Applies a change, and reports a violated limit as the error of its member.
    static func apply(
        _ change: InstallationChange,
        to installation: inout Installation,
        at now: Int64,
        by author: InstallationChange.Author
    ) throws(InstallationError) {
        do throws(InstallationChangeError) {
            try installation.apply(change, at: now, by: author)
        } catch {
            let advice = "remove those that are no longer in use with null"
            switch error {
            case .number(.activity, let count):
                throw InstallationError(
                    .invalidValue,
                    "activities must have at most \(Installation.TokenKind.activity.limit) that have not ended (the"
                        + " installation would have \(count)): \(advice)",
                    at: "/activities"
                )
            case .number(let kind, let count):
                let name = tokenMembers.first { $0.kind == kind }?.name ?? ""
                throw InstallationError(
                    .invalidValue,
                    "tokens.\(name) must have at most \(kind.limit) tokens (the installation would have \(count)):"
                        + " \(advice)",
                    at: "/tokens/\(name)"
                )
            case .bytes(let count):
                throw InstallationError(
                    .invalidValue,
                    "tokens and activities must have at most \(Installation.byteLimit) bytes with their names (the"
                        + " installation would have \(count)): \(advice)",
                    // A member of the change, so that the app can leave it out.
                    at: change.activities.isEmpty ? "/tokens" : "/activities"
                )
            case .noSurface(let activity):
                throw InstallationError(
                    .invalidValue,
                    "activities: surface is missing in an activity that is not known: it must be \(TextRule.surface)",
                    at: JSONPointer.path(["activities", activity, "surface"])
                )
            }
        }
    }
}
