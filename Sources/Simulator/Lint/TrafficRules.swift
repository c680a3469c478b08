internal import APNs

extension Lint.Rule {
    static let deviceTokenRepeated = Lint.Rule(
        "device-token-repeated",
        .warning,
        .sending,
        "a device gets the same push twice in a moment"
    )
    static let connectionPerPush = Lint.Rule(
        "connection-per-push",
        .warning,
        .connection,
        "each push comes over a connection of its own"
    )
}

/// The rules that a single push cannot break, only pushes one after another.
///
/// It is told about each push that was accepted, and remembers of the last few thousand what it needs: so much costs
/// a look into two tables. It knows no clock and does nothing by itself.
struct TrafficRules {
    /// What it has to know of a push.
    struct Facts {
        /// When it came, in seconds since 1970.
        var time: Int64
        /// The seconds by which a fault has set the simulator's clock ahead.
        var skew: Int64 = 0
        /// Which connection it came over.
        var connection: Int
        /// How many pushes that connection had carried before.
        var earlierPushCount: Int
        /// The device token, always in the same case.
        var deviceToken: String
        /// Whether the device gets the push at once.
        var isOnline = true
        /// `apns-topic`.
        var topic: String
        /// `apns-push-type`.
        var pushType: PushType?
        /// `apns-collapse-id`.
        var collapseID: String?
        /// The payload.
        var payload: [UInt8]
        /// The provider token; nil under a certificate.
        var providerToken: ProviderTokenFacts?
    }

    /// What it has to know of a provider token.
    struct ProviderTokenFacts {
        /// The same for the same token, as a hash of its bytes is.
        var identity: Int
        /// The identifier of the key that signed it.
        var keyID = ""
        /// When it was issued, in seconds since 1970.
        var issuedAt: Int64
        /// Whether the token before it on the connection had expired, so that it is not early.
        var isRenewalOfExpired = false
        /// Its deviations from the form in Apple's documentation.
        var deviations: [ProviderTokenDeviation] = []
    }

    static let all: [Lint.Rule] = [.deviceTokenRepeated, .connectionPerPush]

    /// Seconds between pushes that count as one burst.
    private static let burst: Int64 = 2
    /// Seconds by which two clocks may differ.
    private static let clockTolerance: Int64 = 60
    /// Connections with one push each that come one after another before it is a habit, and the seconds they take.
    private static let habit = 10
    private static let habitDuration: Int64 = 300

    private struct Target: Hashable {
        var deviceToken: String
        var topic: String
    }

    private struct Arrival {
        var target: Target
        var time: Int64
        var isOnline: Bool
        var collapseID: String?
        var payload: [UInt8]
    }

    private struct Connection {
        var openedAt: Int64
        var pushCount = 0
        var token: Int?
        var keyID: String?
        var tokenSince: Int64 = 0
    }

    /// The last push to each device, in the place that its token has by chance: who shares one is forgotten early,
    /// which costs a warning now and then, where a dictionary would cost every push.
    private var arrivals: [Arrival?]
    private var connections: RecentValues<Int, Connection>
    /// The connections that were opened last, oldest first.
    private var lastOpened: [Int] = []

    /// Rules that remember the last push to each of this many devices.
    init(capacity: Int = 1_024) {
        arrivals = Array(repeating: nil, count: max(1, capacity))
        connections = RecentValues(capacity: 256)
    }

    /// What is wrong with a push after those before it; it counts from now on.
    mutating func findings(for facts: Facts) -> [Lint.Finding] {
        var connection = connections[facts.connection] ?? Connection(openedAt: facts.time)
        let token = connection.token
        var findings: [Lint.Finding] = []
        if let finding = repetition(facts) { findings.append(finding) }
        if let token = facts.providerToken {
            findings += TrafficRules.findings(about: token, at: facts.time, skew: facts.skew)
        }
        if let finding = refresh(facts, on: &connection) { findings.append(finding) }
        if let finding = habit(facts) { findings.append(finding) }
        // Whether there was more than one is all that anybody asks.
        if connection.pushCount < 2 || facts.providerToken?.identity != token {
            connection.pushCount = max(connection.pushCount, facts.earlierPushCount) + 1
            connections[facts.connection] = connection
        }
        return findings
    }

    // MARK: Devices

    private mutating func repetition(_ facts: Facts) -> Lint.Finding? {
        let target = Target(deviceToken: facts.deviceToken, topic: facts.topic)
        let place = Int(UInt(bitPattern: facts.deviceToken.hashValue) % UInt(arrivals.count))
        let last = arrivals[place]
        arrivals[place] = Arrival(
            target: target,
            time: facts.time,
            isOnline: facts.isOnline,
            collapseID: facts.collapseID,
            payload: facts.payload
        )
        // Repeated timestamps have a rule of their own.
        guard let last, last.target == target, facts.pushType != .liveActivity,
            facts.time.distance(since: last.time) < TrafficRules.burst,
            last.payload == facts.payload
        else { return nil }
        // APNs stores one push for an offline device, and the device shows one notification for a collapse identifier.
        guard last.isOnline, facts.isOnline, facts.collapseID == nil || facts.collapseID != last.collapseID else {
            return nil
        }
        return Lint.Finding(
            .deviceTokenRepeated,
            .header(":path"),
            "this device received the same push a moment ago: its token may be in the list twice, and the user then"
                + " sees it twice"
        )
    }

    // MARK: Provider tokens

    /// Returns the findings about the form and the age of a provider token.
    ///
    /// - Parameters:
    ///   - token: The provider token of an accepted push.
    ///   - time: The time of the push in seconds since 1970.
    ///   - skew: The seconds by which a fault has set the simulator's clock ahead.
    /// - Returns: The findings.
    static func findings(about token: ProviderTokenFacts, at time: Int64, skew: Int64) -> [Lint.Finding] {
        token.deviations.map(ProviderTokenRules.finding) + [age(of: token, at: time, skew: skew)].compactMap(\.self)
    }

    private static func age(of token: ProviderTokenFacts, at time: Int64, skew: Int64) -> Lint.Finding? {
        // APNs compares a token with its own clock. The skew is bounded, and its sum with a real time fits.
        let now = time &+ skew
        let age = now.distance(since: token.issuedAt)
        if age > ProviderToken.maximumAgeInSeconds {
            return Lint.Finding(
                .providerTokenTooOld,
                .header("authorization"),
                "the provider token was issued \(age / 60) minutes ago, and is valid for 60"
                    + ProviderTokenRules.skewNote(skew),
                reason: .expiredProviderToken
            )
        }
        guard age < -TrafficRules.clockTolerance else { return nil }
        let lead = token.issuedAt.distance(since: now)
        let cause =
            skew == 0
            ? ": the sender's clock is ahead" : ProviderTokenRules.skewNote(skew)
        return Lint.Finding(
            .providerTokenAhead,
            .header("authorization"),
            "the provider token was issued \(lead) seconds in the future\(cause); APNs refuses tokens from more than an"
                + " hour ahead"
        )
    }

    private func refresh(_ facts: Facts, on connection: inout Connection) -> Lint.Finding? {
        guard let token = facts.providerToken, token.identity != connection.token else { return nil }
        let isFirst = connection.token == nil
        let age = facts.time.distance(since: connection.tokenSince)
        let previous = connection.keyID
        connection.token = token.identity
        connection.keyID = token.keyID
        connection.tokenSince = facts.time
        guard !isFirst, !token.isRenewalOfExpired, age < ProviderToken.minimumRefreshIntervalInSeconds else {
            return nil
        }
        return Lint.Finding(
            .providerTokenRefreshedEarly,
            .header("authorization"),
            ProviderTokenRules.refreshedEarly(after: age, from: previous, to: token.keyID),
            reason: .tooManyProviderTokenUpdates
        )
    }

    // MARK: Connections

    private mutating func habit(_ facts: Facts) -> Lint.Finding? {
        guard facts.earlierPushCount == 0 else { return nil }
        let before = lastOpened
        lastOpened = before.suffix(TrafficRules.habit - 1) + [facts.connection]
        guard before.count == TrafficRules.habit,
            before.allSatisfy({ number in
                guard let connection = connections[number] else { return false }
                return connection.pushCount == 1
                    && facts.time.distance(since: connection.openedAt) < TrafficRules.habitDuration
            })
        else { return nil }
        return Lint.Finding(
            .connectionPerPush,
            .connection,
            "the last \(TrafficRules.habit) connections carried one push each: keep one open for hours, because"
                + " APNs treats rapid opening and closing of connections as an attack and may block the sender"
        )
    }
}

/// A dictionary that forgets what was put into it first when there is too much.
private struct RecentValues<Key: Hashable, Value> {
    private let capacity: Int
    private var values: [Key: Value] = [:]
    /// The keys in the order in which they came, once around.
    private var keys: [Key] = []
    private var oldest = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            guard let newValue else {
                // Its place is free for the next, so that no key has two.
                if values.removeValue(forKey: key) != nil { keys.removeAll { $0 == key } }
                oldest = keys.isEmpty ? 0 : oldest % keys.count
                return
            }
            guard values.updateValue(newValue, forKey: key) == nil else { return }
            if keys.count < capacity {
                keys.append(key)
            } else {
                values[keys[oldest]] = nil
                keys[oldest] = key
                oldest = (oldest + 1) % capacity
            }
        }
    }
}

extension Int64 {
    /// The seconds from another time to this one; as many as there can be when the times are beyond all measure.
    fileprivate func distance(since other: Int64) -> Int64 {
        let (difference, isTooMuch) = subtractingReportingOverflow(other)
        return isTooMuch ? (self < other ? .min : .max) : difference
    }
}
