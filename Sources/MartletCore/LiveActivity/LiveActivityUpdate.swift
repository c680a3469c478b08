// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An update or the end of a Live Activity, sent to one activity or, by broadcast, to all activities that listen on a
/// channel.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityUpdate: Sendable, Hashable, Codable {
    /// The time at which an ended activity is removed from the Lock Screen.
    public enum Dismissal: Sendable, Hashable, Codable {
        /// Chosen by the system, at most four hours after the end.
        case `default`
        /// Immediately.
        case immediate
        /// This long after the push was created, at most four hours. Fractions of a second are ignored.
        case after(Duration)
        /// At a date, at most four hours after the end.
        case at(Date)

        private enum CodingKeys: CodingKey {
            case after, at, immediate
        }

        /// Decodes what ``encode(to:)`` encodes.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            if let duration = try values.decodeIfPresent(Duration.self, forKey: .after) {
                self = .after(duration)
            } else if let date = try values.decodeIfPresent(Date.self, forKey: .at) {
                self = .at(date)
            } else {
                self = try values.decodeIfPresent(Bool.self, forKey: .immediate) == true ? .immediate : .default
            }
        }

        /// Encodes `after`, `at` or `immediate`, or an empty object for ``default``.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .default: break
            case .immediate: try values.encode(true, forKey: .immediate)
            case .after(let duration): try values.encode(duration, forKey: .after)
            case .at(let date): try values.encode(date, forKey: .at)
            }
        }
    }

    /// The dismissal of an end; nil for an update.
    private let dismissal: Dismissal?
    package var isEnd: Bool { dismissal != nil }
    private let contentState: JSONText?
    private let alert: LiveActivityAlert?
    private let staleDate: Date?
    private let relevanceScore: Double?

    /// Creates an update with new content for a running activity.
    ///
    /// - Parameters:
    ///   - state: The new content, encoded for the phone's default `JSONDecoder`.
    ///   - alert: The alert shown to the user; nil to change the content silently.
    ///   - staleDate: The time from which the content counts as outdated.
    ///   - relevanceScore: The rank among several activities: the one with the highest score is shown first; any
    ///     number.
    /// - Returns: The update.
    /// - Throws: ``PayloadError`` if the state does not encode to a JSON object.
    public static func update(
        _ state: some Encodable,
        alert: LiveActivityAlert? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil
    ) throws(PayloadError) -> LiveActivityUpdate {
        LiveActivityUpdate(
            dismissal: nil,
            contentState: try LiveActivityContent.encode(state, for: "content-state"),
            alert: alert,
            staleDate: staleDate,
            relevanceScore: relevanceScore
        )
    }

    /// Creates the end of an activity with its final content.
    ///
    /// - Parameters:
    ///   - state: The final content, which is shown until the dismissal.
    ///   - dismissal: The time at which the activity is removed from the Lock Screen.
    ///   - alert: The alert shown to the user; nil to end the activity silently.
    ///   - staleDate: The time from which the content counts as outdated, if it is still shown.
    ///   - relevanceScore: The rank among several activities until the dismissal; any number.
    /// - Returns: The update.
    /// - Throws: ``PayloadError`` if the state does not encode to a JSON object.
    public static func end(
        _ state: some Encodable,
        dismissal: Dismissal = .default,
        alert: LiveActivityAlert? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil
    ) throws(PayloadError) -> LiveActivityUpdate {
        LiveActivityUpdate(
            dismissal: dismissal,
            contentState: try LiveActivityContent.encode(state, for: "content-state"),
            alert: alert,
            staleDate: staleDate,
            relevanceScore: relevanceScore
        )
    }

    /// Creates the end of an activity that keeps its current content.
    ///
    /// - Parameter dismissal: The time at which the activity is removed from the Lock Screen.
    /// - Returns: The update.
    public static func end(dismissal: Dismissal = .default) -> LiveActivityUpdate {
        LiveActivityUpdate(dismissal: dismissal, contentState: nil, alert: nil, staleDate: nil, relevanceScore: nil)
    }

    /// Returns the payload of a push created at a time.
    ///
    /// - Parameter timestamp: The time of the push, rounded down to a whole second. The phone ignores an update whose
    ///   timestamp is not later than that of the content it shows.
    /// - Returns: The payload.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public func payload(timestamp: Date) throws(PayloadError) -> PushNotification.Payload {
        var object = JSONObjectWriter(capacity: 512 + (contentState?.bytes.count ?? 0))
        try object.write("aps") { (aps) throws(PayloadError) in
            try aps.write("timestamp", timestamp)
            aps.write("event", isEnd ? "end" : "update")
            aps.write("content-state", json: contentState?.bytes)
            if let alert {
                try aps.write("alert") { (object) throws(PayloadError) in try alert.write(into: &object) }
            }
            try aps.write("stale-date", staleDate)
            if let dismissal { try aps.write("dismissal-date", dismissal.date(from: timestamp)) }
            try aps.write("relevance-score", relevanceScore)
        }
        return PushNotification.Payload(opaque: object.finish())
    }
}

extension LiveActivityUpdate: CustomStringConvertible {
    /// The event and the values that are set, in one line.
    public var description: String {
        let values: [String?] = [
            isEnd ? "end" : "update", contentState.map { "content-state \($0)" }, alert.map { "\($0)" },
            staleDate.map { "stale-date \($0)" }, dismissal.map { "dismissal \($0)" },
            relevanceScore.map { "relevance-score \($0)" },
        ]
        return values.compactMap(\.self).joined(separator: ", ")
    }
}

extension LiveActivityUpdate.Dismissal {
    /// A date that is in the past even if clocks differ.
    private static let longAgo = Date(secondsSince1970: 1)

    /// Returns the `dismissal-date` of a push created at a time; nil to leave it out.
    fileprivate func date(from timestamp: Date) -> Date? {
        switch self {
        case .default: nil
        case .immediate: Self.longAgo
        case .after(let duration): timestamp + Double(max(0, duration.components.seconds))
        case .at(let date): date
        }
    }
}
