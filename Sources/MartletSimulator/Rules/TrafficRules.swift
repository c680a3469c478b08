// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PushLint.Rule {
    static let deviceTokenRepeated = PushLint.Rule("device-token-repeated", .warning, .sending)
        .when("a device gets the same push twice in a minute")
    static let connectionPerPush = PushLint.Rule("connection-per-push", .warning, .connection)
        .when("each push comes over a connection of its own")
}

/// The rules that only a sequence of pushes can break.
///
/// They are applied to each push that was accepted. Memory is bounded: the last pushes of a minute to 50 000 devices,
/// 4 096 connections, and 256 senders. They have no clock.
struct TrafficRules {
    /// The parts of a push that the rules depend on.
    struct Push {
        var number = 0
        /// The `apns-id` in the answer.
        var id = ""
        /// The time of the push in milliseconds since 1970.
        var time: Int64
        /// The milliseconds by which a fault has set the simulator's clock ahead.
        var skew: Int64 = 0
        /// The number of the connection of the push.
        var connection: Int
        /// The sender: its signing key or certificate, and the namespace of the push; only the first push on a
        /// connection needs it.
        var sender = ""
        /// The number of earlier pushes on the connection.
        var earlierPushCount: Int
        /// The device token, always in the same case.
        var deviceToken: String
        /// Whether the device receives the push at once.
        var isOnline = true
        var topic: String
        var pushType: PushType?
        var collapseID: String?
        var payload: [UInt8]
        /// The provider token; nil for a client with a certificate.
        var providerToken: SentToken?
    }

    /// The parts of a provider token that the rules depend on.
    struct SentToken {
        /// A value that is equal for equal tokens, such as a hash of the bytes.
        var identity: Int
        /// The time at which the token was issued, in seconds since 1970.
        var issuedAtSeconds: Int64
        /// The message about the token that this one replaced too early on its connection; nil when it was in time.
        var earlyReplacement: String?
        /// The deviations of the token from the form in Apple's documentation.
        var deviations: [ProviderTokenDeviation] = []
    }

    /// The findings about a push.
    struct Result {
        var findings: [PushLint.Finding] = []
        /// The number of the push that this one repeats; nil for none.
        var repeated: Int?
    }

    static let all: [PushLint.Rule] = [.deviceTokenRepeated, .connectionPerPush]

    /// The time in milliseconds within which a push counts as repeated: long enough to send to a list of thousands
    /// twice, and for a retry after a timeout.
    private static let burst: Int64 = 60_000
    /// The number of seconds by which two clocks may differ; the time of issue of a token is in whole seconds.
    private static let clockTolerance: Int64 = 60
    /// The number of consecutive connections with one push each after which the next one leads to a finding.
    private static let shortConnectionLimit = 10
    /// The maximum age of these connections at that time, in milliseconds.
    private static let shortConnectionPeriod: Int64 = 300_000

    private struct Target: Hashable {
        var deviceToken: String
        var topic: String
    }

    private struct Arrival {
        var number: Int
        /// The hash of the `apns-id`.
        var id: Int
        var time: Int64
        var isOnline: Bool
        var collapseID: String?
        /// The hash of the payload; payloads themselves would need too much memory.
        var payload: Int
    }

    private struct Connection {
        var openedAt: Int64
        var pushCount = 0
        var token: Int?
    }

    /// The last push to each device and topic in the last ``burst``.
    private var arrivals: RecentValues<Target, Arrival>
    /// The second since 1970 in which older pushes were last removed from ``arrivals``.
    private var cleanedSecond: Int64?
    private var connections = RecentValues<Int, Connection>(capacity: 4_096)
    /// The last connections that each sender opened, oldest first.
    private var lastOpened = RecentValues<String, [Int]>(capacity: 256)

    /// Creates rules that remember the last pushes to this many devices and topics.
    init(capacity: Int = 50_000) {
        arrivals = RecentValues(capacity: capacity)
    }

    /// Removes the remembered pushes to these devices, after their pushes were removed from the inbox.
    mutating func forget(_ targets: some Sequence<(deviceToken: String, topic: String)>) {
        for (deviceToken, topic) in targets {
            arrivals.removeValue(forKey: Target(deviceToken: deviceToken, topic: topic))
        }
    }

    /// Checks a push against those before it, and remembers the push.
    mutating func check(_ push: Push) -> Result {
        var connection = connections[push.connection] ?? Connection(openedAt: push.time)
        let token = connection.token
        var result = Result()
        if let (finding, number) = repetition(push) {
            result.findings.append(finding)
            result.repeated = number
        }
        if let token = push.providerToken {
            result.findings += TrafficRules.findings(about: token, at: push.time, skew: push.skew)
        }
        if let finding = earlyRefresh(push, on: &connection) { result.findings.append(finding) }
        if let finding = connectionPerPush(push) { result.findings.append(finding) }
        // The rules only distinguish one push from more, so higher counts need not be exact.
        if connection.pushCount < 2 || push.providerToken?.identity != token {
            connection.pushCount = max(connection.pushCount, push.earlierPushCount) + 1
            connections.updateValue(connection, forKey: push.connection)
        }
        return result
    }

    // MARK: Devices

    /// Returns the finding about a push that repeats another one, whose number it names; nil for none.
    private mutating func repetition(_ push: Push) -> (PushLint.Finding, number: Int)? {
        // The user sees only alerts twice.
        guard push.pushType == nil || push.pushType == .alert else { return nil }
        let target = Target(deviceToken: push.deviceToken, topic: push.topic)
        let arrival = Arrival(
            number: push.number,
            id: push.id.hashValue,
            time: push.time,
            isOnline: push.isOnline,
            collapseID: push.collapseID,
            payload: push.payload.blockHash
        )
        let last = arrivals.updateValue(arrival, forKey: target)
        if cleanedSecond != push.time / 1_000 {
            cleanedSecond = push.time / 1_000
            arrivals.removeOldest { push.time.distance(since: $0.time) >= TrafficRules.burst }
        }
        guard let last, push.time.distance(since: last.time) < TrafficRules.burst, last.payload == arrival.payload,
            (try? JSONReader.readPayload(push.payload))?["aps"]?["alert"] != nil
        else { return nil }
        // APNs stores one push for an offline device, and the device shows one notification for a collapse identifier.
        guard last.isOnline, push.isOnline, push.collapseID == nil || push.collapseID != last.collapseID else {
            return nil
        }
        let age = push.time.distance(since: last.time) / 1_000
        let message =
            "push \(last.number) to this device, \(age) seconds before, is the same, and the user sees both: "
            + TrafficRules.repetitionAdvice(hasSameID: last.id == arrival.id)
        return (PushLint.Finding(.deviceTokenRepeated, .header(":path"), message), last.number)
    }

    /// Returns the finding about a push that another one repeats.
    static func repeated(by number: Int, hasSameID: Bool) -> PushLint.Finding {
        let message =
            "push \(number) to this device is the same, and the user sees both: "
            + repetitionAdvice(hasSameID: hasSameID)
        return PushLint.Finding(.deviceTokenRepeated, .header(":path"), message)
    }

    private static func repetitionAdvice(hasSameID: Bool) -> String {
        hasSameID
            ? "they have the same apns-id, so the sender sent it again although APNs had accepted it"
            : "check whether the list contains the token twice"
    }

    // MARK: Provider tokens

    /// Returns the findings about the form and the age of a provider token.
    static func findings(about token: SentToken, at time: Int64, skew: Int64) -> [PushLint.Finding] {
        var findings = token.deviations.map(ProviderTokenRules.finding)
        if let finding = age(of: token, at: time, skew: skew) { findings.append(finding) }
        return findings
    }

    private static func age(of token: SentToken, at time: Int64, skew: Int64) -> PushLint.Finding? {
        // APNs compares a token with its own clock. The skew is bounded, so its sum with a real time does not overflow.
        let now = (time &+ skew) / 1_000
        let age = now.distance(since: token.issuedAtSeconds)
        if age > ProviderToken.maximumAgeInSeconds {
            let message =
                "the provider token was issued \(age / 60) minutes ago, and is valid for 60"
                + ProviderTokenRules.skewNote(skew)
            return PushLint.Finding(
                .providerTokenTooOld,
                .header("authorization"),
                message,
                reason: .expiredProviderToken
            )
        }
        guard age < -TrafficRules.clockTolerance else { return nil }
        let lead = token.issuedAtSeconds.distance(since: now)
        let cause =
            skew == 0
            ? ": the sender's clock is ahead" : ProviderTokenRules.skewNote(skew)
        let message =
            "the provider token was issued \(lead) seconds in the future\(cause); APNs refuses tokens from more than an"
            + " hour ahead"
        return PushLint.Finding(.providerTokenAhead, .header("authorization"), message)
    }

    private func earlyRefresh(_ push: Push, on connection: inout Connection) -> PushLint.Finding? {
        guard let token = push.providerToken, token.identity != connection.token else { return nil }
        connection.token = token.identity
        return token.earlyReplacement.map { text in
            PushLint.Finding(
                .providerTokenRefreshedEarly,
                .header("authorization"),
                text,
                reason: .tooManyProviderTokenUpdates
            )
        }
    }

    // MARK: Connections

    private mutating func connectionPerPush(_ push: Push) -> PushLint.Finding? {
        guard push.earlierPushCount == 0 else { return nil }
        let before = lastOpened[push.sender] ?? []
        lastOpened.updateValue(
            before.suffix(TrafficRules.shortConnectionLimit - 1) + [push.connection],
            forKey: push.sender
        )
        guard before.count == TrafficRules.shortConnectionLimit,
            before.allSatisfy({ number in
                guard let connection = connections[number] else { return false }
                return connection.pushCount == 1
                    && push.time.distance(since: connection.openedAt) < TrafficRules.shortConnectionPeriod
            })
        else { return nil }
        let message =
            "the last \(TrafficRules.shortConnectionLimit) connections of this sender carried one push each: keep a"
            + " connection open for hours, because APNs treats rapid opening and closing of connections as an"
            + " attack and may block the sender"
        return PushLint.Finding(.connectionPerPush, .connection, message)
    }
}

extension [UInt8] {
    /// The hash of the bytes as one block: `hashValue` hashes each byte alone.
    fileprivate var blockHash: Int {
        var hasher = Hasher()
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}

extension Int64 {
    /// Returns the time from another time to this one in their unit, limited to the range of `Int64`.
    fileprivate func distance(since other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (self < other ? .min : .max) : difference
    }
}
