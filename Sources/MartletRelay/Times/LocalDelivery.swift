// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The local time at which each installation gets the push of a request.
struct LocalDelivery: Sendable {
    /// The greatest differences between UTC and local time, in seconds: clocks at UTC+14 show a time first, and those
    /// at UTC-12 last.
    private static let (east, west): (Int64, Int64) = (14 * 3_600, 12 * 3_600)

    let time: LocalTime
    /// The time as the request has it.
    private let text: String
    /// The zone of installations that have reported none, or one that is unknown.
    let zone: Zone

    /// Reads the members of a push request; nil for a request without a local time.
    ///
    /// The error has the place of the first mistake.
    init?(_ request: JSONField<APIProblem>) throws(APIProblem) {
        let (local, zone) = (request["local-time"], request["local-time-zone"])
        guard local.isPresent else {
            guard !zone.isPresent else { throw zone.error("must be left out of a push without local-time") }
            return nil
        }
        guard request["to"].value?.members != nil else {
            throw local.error("must be left out of a push to tokens or a channel: only installations have a time zone")
        }
        guard !request["not-before"].isPresent else {
            throw local.error("must be left out of a push with not-before")
        }
        guard let text = local.value?.stringValue, let time = LocalTime(text) else {
            throw local.mismatch("a date and a time without a zone, such as 2026-12-01T09:00")
        }
        self.time = time
        self.text = text
        self.zone = try zone.isPresent ? Zone.read(zone) : .utc
    }

    /// Returns whether the request of a job has a local time.
    static func isUsed(by job: Job) -> Bool { (try? JSONReader.read(job.request))?["local-time"] != nil }

    /// The first time at which a clock anywhere shows the local time, in milliseconds since 1970.
    var first: Int64 { (time.seconds - LocalDelivery.east) * 1_000 }

    /// The last such time, in milliseconds since 1970.
    var last: Int64 { (time.seconds + LocalDelivery.west) * 1_000 }

    /// Returns the time of an installation, in milliseconds since 1970.
    ///
    /// - Parameter zone: The zone of the installation; nil for one that has reported none, or one that is unknown.
    /// - Returns: The time, which may be past.
    func time(in zone: Zone?) -> Int64 {
        (zone ?? self.zone).time(of: time) * 1_000
    }

    /// Checks the local time of a request that arrives.
    ///
    /// - Parameters:
    ///   - now: The time in milliseconds since 1970.
    ///   - longestDelay: The longest time ahead for which a push may be scheduled, in milliseconds.
    ///   - expiration: The expiration of the push in seconds since 1970; nil for none, 0 for a single attempt.
    /// - Throws: The rule that a time breaks.
    func check(at now: Int64, longestDelay: Int64, expiration: Int64?) throws(APIProblem) {
        guard last >= now - 86_400_000 else {
            throw outOfBounds("at most 24 hours past in some time zone")
        }
        guard last <= now + longestDelay else {
            let days = longestDelay / 86_400_000
            throw outOfBounds("at most \(days) days ahead in all time zones")
        }
        guard let expiration, expiration > 0, expiration <= last / 1_000 else { return }
        throw APIProblem(
            400,
            "expiration must be 0, or after local-time in all time zones: more than \(last / 1_000)"
                + " (found \(expiration))",
            at: "/expiration"
        )
    }

    private func outOfBounds(_ bounds: String) -> APIProblem {
        APIProblem(400, "local-time must be \(bounds) (found \"\(text)\")", at: "/local-time")
    }
}

extension PushRequest {
    /// Returns the request with the earliest time at which an installation gets its push.
    func scheduled(for member: AudienceMember, _ zones: inout ZoneLookup) -> PushRequest {
        guard let localDelivery else { return self }
        var request = self
        request.notBefore = localDelivery.time(in: zones.zone(named: member.timeZone))
        return request
    }
}
