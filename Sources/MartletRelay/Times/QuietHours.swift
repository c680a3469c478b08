// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A time of day, such as `22:00`.
struct TimeOfDay: Sendable, Hashable {
    /// The seconds since midnight, from 0 to 86,399.
    let seconds: Int64

    /// Reads text such as `22:00`; nil for another form.
    init?(_ text: String) {
        guard let time = LocalTime("1970-01-01T\(text)") else { return nil }
        seconds = time.seconds
    }
}

/// The hours of each day in which alerts to people wait, in the time zones of their installations.
struct QuietHours: Sendable, Hashable {
    /// The first time of day that is quiet.
    let start: TimeOfDay
    /// The time of day at which the quiet hours end; before ``start`` if they include midnight.
    let end: TimeOfDay
    /// The zone of installations that have reported none, or one that is unknown.
    let zone: Zone

    /// Whether less than an hour of each day is not quiet, which is probably a mistake.
    var leaveLessThanAnHour: Bool {
        let length = (end.seconds - start.seconds + 86_400) % 86_400
        return 86_400 - length < 3_600
    }

    /// Returns the end of the quiet hours that include a time; nil for a time that is not quiet.
    ///
    /// They end when clocks show ``end`` for the first time, also on a day on which clocks are put back.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - zone: The zone of an installation; nil for one that has reported none, or one that is unknown.
    /// - Returns: Milliseconds since 1970.
    func end(at time: Int64, in zone: Zone?) -> Int64? {
        let zone = zone ?? self.zone
        let seconds = time / 1_000
        let local = seconds + zone.offset(at: seconds)
        let timeOfDay = local % 86_400
        let midnight = local - timeOfDay
        let isQuiet =
            start.seconds < end.seconds
            ? timeOfDay >= start.seconds && timeOfDay < end.seconds
            : timeOfDay >= start.seconds || timeOfDay < end.seconds
        guard isQuiet else { return nil }
        let day = timeOfDay < end.seconds ? midnight : midnight + 86_400
        let result = zone.time(of: LocalTime(seconds: day + end.seconds)) * 1_000
        return result > time ? result : nil
    }
}

extension QuietHours: ConfigurationPart {
    private static let start = SettingKey<TimeOfDay>("from", .timeOfDay, .required, .reload)
        .help("local time of day from which alerts wait")
    private static let end = SettingKey<TimeOfDay>("to", .timeOfDay, .required, .reload)
        .help("local time of day at which they are sent; before `from` for quiet hours that include midnight")
    private static let zone = SettingKey<Zone>("time-zone", .zone, .value(.utc), .reload)
        .help("time zone of phones that have reported none")

    static let settings: [Setting<Self>] = [Setting(separate: start), Setting(separate: end), Setting(separate: zone)]

    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) {
        start = try Self.start.value(in: object, places)
        end = try Self.end.value(in: object, places)
        zone = try Self.zone.value(in: object, places)
        guard start != end else { throw object["to"].mismatch("another time of day than from") }
    }
}

extension OutboxPush {
    /// Whether the push shows a notification that is neither time-sensitive nor critical.
    private var waitsInQuietHours: Bool {
        guard headers.pushType == PushType.alert.rawValue else { return false }
        let aps = (try? JSONReader.read(payload))?["aps"]
        let level = aps?["interruption-level"]?.stringValue.map(PushNotification.InterruptionLevel.init(rawValue:))
        if level == .timeSensitive || level == .critical { return false }
        // A critical sound makes any other alert critical, unless it is passive.
        return level == .passive || aps?["sound"]?["critical"]?.wholeValue != 1
    }

    /// Makes an alert to an installation wait for the end of the quiet hours that include the time at which it is due.
    ///
    /// - Parameters:
    ///   - quietHours: The quiet hours of the app; nil for none.
    ///   - name: The name of the installation's time zone; nil for none.
    ///   - zones: The zones of the request.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The reason why the push is left out, that it expires by their end; nil for a push that is sent.
    mutating func wait(
        for quietHours: QuietHours?,
        in name: String?,
        _ zones: inout ZoneLookup,
        at now: Int64
    ) -> LeftOutReason? {
        guard let quietHours,
            let end = quietHours.end(at: max(now, notBefore ?? now), in: zones.zone(named: name)), waitsInQuietHours
        else { return nil }
        guard !expires(by: end) else { return .quietHours }
        notBefore = end
        return nil
    }
}
