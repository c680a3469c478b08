// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The members that a phone reports to a relay, those that the relay has confirmed, and the decision about the next
/// request, without I/O, clock and randomness.
///
/// An enrollment has no tokens; the first report has them. An installation whose secret was lost with the answer has
/// therefore no tokens, and no push for its user reaches the phone after the user has signed out.
///
/// The installation of a user who signed out is removed before the next user enrolls, so that a request of the former
/// user that arrives late changes nothing.
struct InstallationState: Sendable, Hashable, Codable {
    /// An installation whose secret the phone has.
    struct Enrolled: Sendable, Hashable, Codable {
        let secret: String
        /// The members that the relay has confirmed.
        var confirmed: [MemberPath: MemberValue]
        /// The members that are sent even if they are equal to the confirmed ones: a request with them may have been
        /// processed, or the system has issued the token again.
        var unconfirmed: Set<MemberPath> = []
    }

    /// The next step.
    enum Step: Sendable, Hashable {
        /// Ask the back end for a ticket, and send the enrollment.
        case enroll(user: String)
        case send(InstallationRequest)
    }

    /// The signed-in user.
    private(set) var user: String?
    /// The members of the installation as the phone knows them.
    private(set) var members: [MemberPath: MemberValue] = [:]
    /// The installation of ``user``.
    private(set) var installation: Enrolled?
    /// The secret of the former user's installation, which must be removed.
    private(set) var formerSecret: String?

    // The properties below are valid for one run of the app, and are not stored.

    /// The problem of the last request; nil after a success.
    private(set) var problem: String?
    /// Whether the relay refused the last request, and would refuse it again.
    private var isRefused = false
    private var failures = 0
    /// The values that break a rule of the relay.
    private var refused: [MemberPath: MemberValue] = [:]
    /// The tokens that the system has issued in this run.
    private var issued: Set<MemberPath> = []
    private var hasCompared = false

    private enum CodingKeys: String, CodingKey {
        case user, members, installation, formerSecret
    }

    init() {}

    // MARK: Events

    /// Sets the environment and the bundle identifier of the app.
    mutating func configure(_ environment: InstallationClient.Environment, bundleID: String?) {
        let environment = MemberValue.text(environment.rawValue)
        if members[.environment] != environment {
            // The tokens belong to the previous environment, so the relay removes them, too. The system issues others.
            members = members.filter { !$0.key.isToken }.mapValues { value -> MemberValue in
                guard var activity = value.activity else { return value }
                activity.token = nil
                return .activity(activity)
            }
        }
        members[.environment] = environment
        if let bundleID { members[.bundleID] = .text(bundleID) }
    }

    /// Changes the signed-in user; nil signs out.
    mutating func setUser(_ user: String?) {
        guard user != self.user else { return }
        self.user = user
        isRefused = false
        // Those that have ended concern the former user only.
        members = members.filter { $0.value.activity?.end == nil }
        guard let installation else { return }
        formerSecret = installation.secret
        self.installation = nil
    }

    /// Changes a member; nil removes it.
    mutating func set(_ value: MemberValue?, at path: MemberPath) {
        if members[path] != value {
            members[path] = value
            isRefused = false
        }
        if value != nil, path.isToken { markIssued(path) }
    }

    /// Records that the system has issued the token of a member in this run of the app.
    ///
    /// The relay considers a token void after an answer 410 to a push that it accepted before the app reported the
    /// token last, so each token is reported once in each run of the app.
    mutating func markIssued(_ path: MemberPath) {
        if issued.insert(path).inserted { installation?.unconfirmed.insert(path) }
    }

    /// Removes the tokens of controls except those of these kinds.
    mutating func removeControls(except kinds: some Collection<String>) {
        for path in members.keys where path.names.prefix(2) == ["tokens", "controls"] {
            if let name = path.names.last, !kinds.contains(name) { set(nil, at: path) }
        }
    }

    // MARK: Requests

    /// The next step; nil if there is nothing to report.
    var nextStep: Step? {
        // Without the conditions below, so that the former user's installation is removed in any case.
        if let formerSecret { return .send(InstallationRequest(.removal, credential: formerSecret)) }
        guard let user, !isRefused else { return nil }
        guard let installation else { return .enroll(user: user) }
        let changes = changes(of: installation)
        guard !changes.isEmpty else { return nil }
        return .send(InstallationRequest(.report(changes), credential: installation.secret))
    }

    /// Whether the relay has confirmed all members except values that it refused.
    var isSettled: Bool { nextStep == nil && !isRefused }

    /// Returns the members that the relay may not have as the phone knows them.
    private func changes(of installation: Enrolled) -> [MemberPath: MemberValue?] {
        var changes: [MemberPath: MemberValue?] = [:]
        for path in installation.unconfirmed.union(installation.confirmed.keys).union(members.keys) {
            let value = members[path]
            if !installation.unconfirmed.contains(path), installation.confirmed[path] == value { continue }
            if let value, refused[path] == value { continue }
            changes.updateValue(value, forKey: path)
        }
        return changes
    }

    /// Returns the enrollment as a user with a ticket.
    func enrollment(of user: String, with ticket: String) -> InstallationRequest {
        let own = members.filter { $0.key == .environment || $0.key == .bundleID }
        return InstallationRequest(.enrollment(user: user, own), credential: ticket)
    }

    /// Returns the report of an extension of the app, which has only these tokens; nil if there is no installation.
    func report(of tokens: [PushTokenSlot: DeviceToken]) -> InstallationRequest? {
        guard let installation, !tokens.isEmpty else { return nil }
        let changes = tokens.map { slot, token in (slot.path, MemberValue?.some(.text(token.hex))) }
        return InstallationRequest(
            .report(Dictionary(uniqueKeysWithValues: changes)),
            credential: installation.secret
        )
    }

    /// The read of the surfaces that the installation shall show; nil if there is no installation.
    var surfacesRequest: InstallationRequest? {
        installation.map { InstallationRequest(.surfaces, credential: $0.secret) }
    }

    /// Marks the members of a request as sent.
    ///
    /// The state must be stored before the request is sent.
    mutating func begin(_ request: InstallationRequest) {
        guard case .report(let changes) = request.purpose else { return }
        installation?.unconfirmed.formUnion(changes.keys)
    }

    // MARK: Answers

    /// Processes an answer.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - request: The request, also if the user has changed meanwhile.
    ///   - jitter: A random number from 0.5 to 1, so that phones do not retry at the same time.
    /// - Returns: The delay before the next request.
    mutating func receive(_ answer: InstallationAnswer, to request: InstallationRequest, jitter: Double) -> Duration {
        switch (request.purpose, answer.status) {
        case (.removal, 204), (.removal, 401):
            formerSecret = nil
        case (.enrollment(let owner, let members), 201):
            guard let secret = answer.json["secret"]?.stringValue else {
                return retry(because: "the relay's answer to an enrollment has no secret", jitter: jitter)
            }
            problem = nil
            if owner == user {
                installation = Enrolled(secret: secret, confirmed: members)
            } else {
                formerSecret = secret
            }
            // The failures still count, for a relay that enrolls phones and does not know their secrets.
            return .zero
        case (.enrollment(let owner, _), _) where answer.isRefusal:
            problem = answer.description
            isRefused = owner == user
            return .zero
        case (.report, 200..<429) where request.credential != installation?.secret:
            // The user has changed meanwhile.
            return .zero
        case (.report(let changes), 200):
            confirm(changes, answer)
        case (.report, 401):
            installation = nil
            return retry(because: answer.description, jitter: jitter)
        case (.report(let changes), _) where answer.isRefusal:
            problem = answer.description
            isRefused = !refuse(changes, answer)
            return .zero
        default:
            return retry(because: answer.description, after: answer.retryAfter ?? 0, jitter: jitter)
        }
        problem = nil
        failures = 0
        return .zero
    }

    /// Records a failed step.
    ///
    /// - Parameters:
    ///   - reason: The reason for the failure.
    ///   - seconds: The delay that the relay asks for, at most a day.
    ///   - jitter: A random number from 0.5 to 1.
    /// - Returns: The delay before the step is repeated.
    mutating func retry(because reason: String, after seconds: Int = 0, jitter: Double) -> Duration {
        problem = reason
        let growing = Duration.seconds(1 << failures) * jitter
        // Up to 17 minutes.
        failures = min(failures + 1, 10)
        return .seconds(min(max(seconds, 0), 86_400)) + growing
    }

    /// Records that the relay has confirmed changes.
    private mutating func confirm(_ changes: [MemberPath: MemberValue?], _ answer: InstallationAnswer) {
        guard var installation else { return }
        for (path, value) in changes { installation.confirmed[path] = value }
        installation.unconfirmed.subtract(changes.keys)
        // The first answer shows what an older state from a backup, or a change by the back end, has made different. A
        // token that is missing stays confirmed: Apple may have reported it as unregistered.
        if !hasCompared, answer.json.members != nil {
            hasCompared = true
            let actual = [MemberPath: MemberValue](reading: answer.json)
            for (path, value) in actual where !changes.keys.contains(path) {
                installation.confirmed[path] = value.withToken(of: installation.confirmed[path])
            }
        }
        // The relay knows their ends now.
        for (path, value) in changes where value?.activity?.end != nil && members[path] == value {
            members[path] = nil
            installation.confirmed[path] = nil
        }
        self.installation = installation
    }

    /// Excludes the values that break a rule from further reports; returns whether there are any.
    private mutating func refuse(_ changes: [MemberPath: MemberValue?], _ answer: InstallationAnswer) -> Bool {
        let pointers = answer.pointers
        let broken = changes.compactMapValues(\.self).filter { path, _ in
            let pointer = JSONPointer.path(path.names)
            return pointers.contains {
                pointer == $0 || pointer.hasPrefix($0 + "/") || $0.hasPrefix(pointer + "/")
            }
        }
        refused.merge(broken) { $1 }
        // Nothing of them changes any more that the relay could accept.
        for (path, value) in broken where value.activity?.end != nil && members[path] == value { members[path] = nil }
        return !broken.isEmpty
    }
}
