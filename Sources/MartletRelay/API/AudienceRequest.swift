// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The users, the installation, or the installations of an expression, that a push goes to in place of tokens.
///
/// ```json
/// {"users": ["anna", "bob"]}
/// ```
struct AudienceRequest {
    /// The installations that a push goes to.
    enum Target {
        /// Those that are read when the request is accepted.
        case audience(Audience)
        /// Those that match an expression, whose number is not limited: a job sends to them.
        case matching(AudienceExpression)
    }

    /// The maximum number of users in a request, who have at most 2,000 installations.
    static let userLimit = 100
    /// The members of which a request has one.
    static let targets = ["user", "users", "installation", "tag", "where", "all"]
    /// ``targets`` in a sentence.
    static let targetNames = "user, users, installation, tag, where or all"
    /// The members that name one of several tokens of a kind.
    private static let names = ["activity", "control"]
    static let members = targets + names

    let target: Target
    private let field: JSONField<APIProblem>

    /// Reads the member `to` of a push; the error has the place of the first mistake.
    init(_ field: JSONField<APIProblem>) throws(APIProblem) {
        self.field = field
        try field.checkMembers(Self.members)
        let present = Self.targets.filter { field[$0].isPresent }
        guard let name = present.first, present.count == 1 else {
            throw field.error("must have exactly one of \(Self.targetNames)")
        }
        let target = field[name]
        switch name {
        case "user": self.target = .audience(.users([try TextRule.user.text(of: target)]))
        case "users": self.target = .audience(.users(try Self.users(target)))
        case "installation": self.target = .audience(.installation(try Self.installation(target)))
        case "tag": self.target = .matching(.tag(try TextRule.tag.text(of: target)))
        case "where":
            self.target = .matching(
                try target.parsed { (text) throws(AudienceExpressionError) in try AudienceExpression(text) }
            )
        default:
            guard target.value == .bool(true) else { throw target.mismatch("true") }
            self.target = .matching(.all)
        }
    }

    private static func users(_ field: JSONField<APIProblem>) throws(APIProblem) -> [String] {
        let count = field.value?.elements?.count ?? 1
        guard (1...userLimit).contains(count) else {
            let advice = count > userLimit ? ": name more users by a tag" : ""
            throw field.error("must have 1 to \(userLimit) users (found \(count))\(advice)")
        }
        var users: [String] = []
        for element in try field.elements() { users.append(try TextRule.user.text(of: element)) }
        return users
    }

    private static func installation(_ field: JSONField<APIProblem>) throws(APIProblem) -> InstallationID {
        let text = field.value?.stringValue ?? ""
        guard let id = InstallationID(text) else {
            throw (try? APNsID(text, allowsUpperCase: true)) == nil
                ? field.mismatch("the identifier of an installation: a UUID in lower case")
                : field.error("has upper-case letters: write the identifier of an installation in lower case")
        }
        return id
    }

    // MARK: Tokens

    /// Returns the token that a push to the audience needs, by its push type.
    func need(of request: PushRequest) throws(APIProblem) -> PushNeed {
        switch request.content {
        case .payload(let payload):
            let type = PushType(rawValue: request.pushType ?? PushType.alert.rawValue)
            guard type == .liveActivity else { return try need(of: type) }
            let aps = (try? JSONReader.read(payload))?["aps"]
            guard aps?["event"] == "start" else { return try needOfActivity() }
            guard let attributesType = aps?["attributes-type"]?.stringValue else {
                throw APIProblem(
                    400,
                    "payload.aps.attributes-type must be a string: it names the token that starts the Live Activity",
                    at: "/payload/aps/attributes-type"
                )
            }
            return try needOfStart(attributesType)
        case .snapshot(let surface):
            switch surface.snapshot.kind {
            case .notification: return try need(of: .alert)
            case .liveActivity where surface.event == "start":
                return try needOfStart(surface.delivery.sentAttributesType)
            case .liveActivity: return try needOfActivity()
            case .widget, .control, .lockAccessory, .standBy: return try need(of: .background)
            }
        }
    }

    /// Returns the need of a push that is not for a Live Activity.
    private func need(of type: PushType) throws(APIProblem) -> PushNeed {
        guard type != .controls else { return .control(try name("control", "the kind of the control")) }
        guard let need = PushNeed(type) else {
            throw APIProblem(
                400,
                "push-type must be alert, background, widgets, controls or liveactivity for a user or an installation"
                    + " (found \(ShownValue.quoted(type.rawValue))): send other types to a token",
                at: "/push-type"
            )
        }
        try checkNames([])
        return need
    }

    private func needOfStart(_ attributesType: String) throws(APIProblem) -> PushNeed {
        try checkNames([])
        return .start(attributesType)
    }

    private func needOfActivity() throws(APIProblem) -> PushNeed {
        .activity(try name("activity", "the identifier of the Live Activity that the app has reported"))
    }

    /// Returns the name of a token that a push needs.
    private func name(_ member: String, _ subject: String) throws(APIProblem) -> String {
        try checkNames([member])
        guard field[member].isPresent else {
            throw field[member].error("is missing: it must be \(subject)")
        }
        return try TextRule.tokenName.text(of: field[member])
    }

    /// Checks that no other tokens are named than those that a push needs.
    private func checkNames(_ needed: [String]) throws(APIProblem) {
        if let member = Self.names.first(where: { field[$0].isPresent && !needed.contains($0) }) {
            let use = member == "activity" ? "updates or ends a Live Activity" : "has the push type controls"
            throw field[member].error("must be left out unless the push \(use)")
        }
    }
}
