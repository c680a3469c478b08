// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The comparison of what a phone shows with what is expected, without I/O or a clock; times are in milliseconds since
/// 1970.
struct SurfaceJudge: Sendable {
    /// The surfaces with a card, or with content that is expected.
    private var surfaces: [String: JudgedSurface] = [:]
    /// All other surfaces, which are skipped until they get a card or content.
    private var idleSurfaces: [String: JudgedSurface] = [:]
    /// The time from which pushes can reach the app; nil while they cannot.
    private var reachableSince: Int64?

    /// Expects content of a surface from a time; nil for its end.
    mutating func expect(_ surface: String, _ content: JSONValue?, since time: Int64) {
        let idle = idleSurfaces.removeValue(forKey: surface) ?? JudgedSurface()
        surfaces[surface, default: idle].expect(content?.normalized, since: time)
    }

    /// Judges the time up to now by the state that it had, and then takes the new state.
    ///
    /// - Parameters:
    ///   - cards: The active cards.
    ///   - isReachable: Whether pushes can reach the app.
    ///   - now: The time.
    ///   - account: The account, which gets the result.
    mutating func judge(
        _ cards: [PhoneActivity],
        isReachable: Bool,
        at now: Int64,
        _ account: inout SimulatedPhone.Account
    ) {
        let shown = Dictionary(grouping: cards, by: \.surface)
        account.staleSurfaces = 0
        account.strandedCards = 0
        for name in Set(surfaces.keys).union(shown.keys) {
            let contents = (shown[name] ?? []).map { $0.shown.normalized }
            var surface = surfaces[name] ?? idleSurfaces.removeValue(forKey: name) ?? JudgedSurface()
            surface.judge(until: now, reachableSince: reachableSince, &account)
            surface.show(contents, at: now, &account)
            surfaces[name] = surface.isIdle ? nil : surface
            if surface.isIdle { idleSurfaces[name] = surface }
        }
        reachableSince = isReachable ? reachableSince ?? now : nil
    }
}

/// The expectations about one surface, and since when its cards deviate from them.
struct JudgedSurface: Sendable {
    private struct Expectation {
        let content: JSONValue
        let since: Int64
    }

    /// The expected contents, oldest first; the first one is on the screen if ``isShown``.
    private var expectations: [Expectation] = []
    private var isShown = false
    private var endedSince: Int64?
    private var cardCount = 0
    private var staleSince: Int64?
    private var duplicateSince: Int64?
    private var strandedSince: Int64?

    /// Whether the surface has no card, and no content is expected.
    var isIdle: Bool { expectations.isEmpty && cardCount == 0 }

    mutating func expect(_ content: JSONValue?, since time: Int64) {
        guard let content else {
            expectations = []
            isShown = false
            endedSince = time
            return
        }
        endedSince = nil
        // A test may state the same content again and again.
        guard expectations.last?.content != content else { return }
        expectations.append(Expectation(content: content, since: time))
    }

    /// Counts the deviations up to a time.
    func judge(until now: Int64, reachableSince: Int64?, _ account: inout SimulatedPhone.Account) {
        if let staleSince {
            account.longestStaleness = max(account.longestStaleness, .milliseconds(now - staleSince))
            if let reachableSince {
                let time = Duration.milliseconds(now - max(staleSince, reachableSince))
                account.longestReachableStaleness = max(account.longestReachableStaleness, time)
            }
        }
        if let duplicateSince {
            account.longestDuplication = max(account.longestDuplication, .milliseconds(now - duplicateSince))
        }
        if let strandedSince {
            account.longestStranding = max(account.longestStranding, .milliseconds(now - strandedSince))
        }
    }

    /// Takes the contents of the active cards from a time on.
    mutating func show(_ contents: [JSONValue], at now: Int64, _ account: inout SimulatedPhone.Account) {
        if contents.count > max(1, cardCount) { account.duplicates += contents.count - max(1, cardCount) }
        let wasVisible = cardCount > 0
        cardCount = contents.count
        duplicateSince = contents.count > 1 ? duplicateSince ?? now : nil
        strandedSince = contents.isEmpty ? nil : endedSince.map { strandedSince ?? (wasVisible ? $0 : now) }
        if endedSince != nil { account.strandedCards += contents.count }
        compare(contents, at: now)
        if staleSince != nil { account.staleSurfaces += 1 }
    }

    private mutating func compare(_ contents: [JSONValue], at now: Int64) {
        guard let oldest = expectations.first else {
            staleSince = nil
            return
        }
        guard let index = expectations.lastIndex(where: { contents.contains($0.content) }) else {
            staleSince = staleSince ?? (isShown ? now : oldest.since)
            isShown = false
            return
        }
        expectations.removeFirst(index)
        isShown = true
        staleSince = expectations.count > 1 ? expectations[1].since : nil
    }
}

extension JSONValue {
    /// The value with the members of all objects sorted by name, and the shortest text of each number, so that equal
    /// content compares as equal.
    fileprivate var normalized: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.normalized))
        case .object(let members):
            .object(
                members.map { Member($0.name, $0.value.normalized) }.sorted { $0.name < $1.name }
            )
        case .number(let number):
            if let whole = number.wholeValue { .integer(whole) } else { .double(number.doubleValue) ?? self }
        case .null, .bool, .string: self
        }
    }
}
