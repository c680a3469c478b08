// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
    // FoundationEssentials alone knows no zone but GMT.
    internal import FoundationInternationalization
#else
    internal import Foundation
#endif

/// A time zone of the IANA database.
struct Zone: Sendable, Hashable {
    static let utc = Zone(name: "UTC", rules: .gmt)

    /// The version of the time zone data, such as `2026a`.
    ///
    /// A program with static libraries has the data only because this is used: nothing else refers to the library that
    /// contains it.
    static var dataVersion: String { TimeZone.timeZoneDataVersion }

    /// The rule for names, as in "must be …".
    static var rule: String { "a time zone of the IANA database (version \(dataVersion)), such as Europe/Berlin" }

    let name: String
    private let rules: TimeZone

    private init(name: String, rules: TimeZone) {
        self.name = name
        self.rules = rules
    }

    /// Creates a zone from its name, such as `Europe/Berlin`; nil for an unknown one.
    init?(_ name: String) {
        guard let rules = TimeZone(identifier: name) else { return nil }
        self.init(name: name, rules: rules)
    }

    /// Returns the difference between local time and UTC at a time, in seconds.
    ///
    /// - Parameter time: Seconds since 1970.
    /// - Returns: The difference, positive east of Greenwich.
    func offset(at time: Int64) -> Int64 {
        Int64(rules.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))))
    }

    /// Returns the time at which clocks show a local time.
    ///
    /// Clocks that are put back show some times twice: the result is the earlier time. Clocks that are put forward
    /// leave some out: the result is the time at which they are put forward.
    ///
    /// - Parameter local: The local time.
    /// - Returns: Seconds since 1970.
    func time(of local: LocalTime) -> Int64 {
        // No offset is greater than a day, and no zone changes twice within two days.
        var (before, after) = (local.seconds - 86_400, local.seconds + 86_400)
        let (first, last) = (offset(at: before), offset(at: after))
        let candidates = [local.seconds - first, local.seconds - last]
        if let time = candidates.filter({ $0 + offset(at: $0) == local.seconds }).min() { return time }
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(at: middle) == first { before = middle } else { after = middle }
        }
        return after
    }
}

/// The zones of the phones of one request or one page of a job, of which each is created once.
struct ZoneLookup {
    /// By name; nil for an unknown name.
    private var known: [String: Zone?] = [:]

    /// Returns the zone with a name; nil for an unknown one, and without a name.
    mutating func zone(named name: String?) -> Zone? {
        guard let name else { return nil }
        if let zone = known[name] { return zone }
        let zone = Zone(name)
        known.updateValue(zone, forKey: name)
        return zone
    }
}

extension Zone {
    /// Reads the name of a zone.
    static func read<Failure: JSONFieldError>(_ field: JSONField<Failure>) throws(Failure) -> Zone {
        let text = try TextRule.attribute(.timeZone).text(of: field)
        guard let zone = Zone(text) else { throw field.mismatch(rule) }
        return zone
    }
}
