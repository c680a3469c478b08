// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SimulatedDevice {
    /// The state of a Live Activity.
    public struct Activity: Sendable, Hashable {
        /// The value of `timestamp` in the newest content, in seconds since 1970.
        package let timestamp: Int64
        /// The timestamp of the newest content.
        public var date: Date { Date(secondsSince1970: timestamp) }
        /// The newest content, as JSON.
        public var contentState: [UInt8] { content?.encoded() ?? [] }
        /// The newest content; nil for none.
        let content: JSONValue?
        /// The content that later content is compared with: the newest in which no value has changed its type.
        let baseline: ContentBaseline?
        /// Whether the activity has ended.
        public private(set) var hasEnded: Bool
        /// The push that the newest content came from.
        let source: Source
        /// The value of `stale-date` in the newest content, in seconds since 1970; nil for none.
        let staleTime: Int64?
        /// The time at which the phone removes the ended activity from the screen, in milliseconds since 1970; nil
        /// while the activity runs.
        let removalTime: Int64?

        /// Creates the state after the change of a push, at a time in milliseconds since 1970.
        ///
        /// - Parameters:
        ///   - change: The change.
        ///   - push: The push.
        ///   - previous: The state before; nil for an activity that starts or was not known.
        ///   - now: The time.
        init(_ change: ActivityChange, of push: DeliveredPush, after previous: Activity?, at now: Int64) {
            var baseline = previous?.baseline
            if let content = change.contentState, baseline == nil || !push.hasChangedType {
                baseline = ContentBaseline(content, of: push.number, after: baseline)
            }
            let aps = push.payload?["aps"] ?? .null
            timestamp = change.timestamp
            content = change.contentState ?? previous?.content
            self.baseline = baseline
            hasEnded = change.event == .end
            source = Source(push)
            staleTime = aps["stale-date"]?.wholeValue
            removalTime = change.event == .end ? ActivityPresentation.removalTime(aps, at: now) : nil
        }

        /// Creates the state of an activity that the app starts, at a time in seconds since 1970.
        init(startedByAppWith content: JSONValue, at timestamp: Int64) {
            self.timestamp = timestamp
            self.content = content
            baseline = nil
            hasEnded = false
            source = Source(number: 0, isBroadcast: false)
            staleTime = nil
            removalTime = nil
        }

        /// Returns whether the activity ignores a push.
        ///
        /// ActivityKit ignores every push after the end of the activity, and an update whose timestamp is not newer
        /// than that of the content. Developers report that an end with an old timestamp ends the activity, and that
        /// its content is shown (Apple forum 776165). Apple does not document that, and documents the opposite for an
        /// end by the app ("end(_:dismissalPolicy:timestamp:)").
        func ignores(_ event: ActivityPush.Event, at timestamp: Int64) -> Bool {
            hasEnded || event != .end && timestamp <= self.timestamp
        }

        /// Returns the rule that a change breaks, and the reason; nil for none.
        func problem(with change: ActivityChange) -> (PushLint.Rule, String)? {
            guard !hasEnded else { return (PushLint.Rule.activityAfterEnd, "the activity has ended") }
            guard change.timestamp <= timestamp else { return nil }
            let note = "its timestamp \(change.timestamp) is not after \(timestamp) of the content on screen"
            guard change.event != .end else {
                let consequence = "developers report that phones end the activity, which Apple does not document"
                return (PushLint.Rule.activityEndNotNewer, "\(note): \(consequence)")
            }
            let rule =
                change.timestamp < timestamp
                ? PushLint.Rule.activityTimestampOlder : PushLint.Rule.activityTimestampRepeated
            return (rule, note)
        }
    }

    /// The push that the content of a Live Activity came from.
    struct Source: Sendable, Hashable {
        /// The number of the push; 0 for content of the app.
        let number: Int
        let isBroadcast: Bool
    }
}

extension SimulatedDevice.Source {
    init(_ push: DeliveredPush) {
        self.init(number: push.number, isBroadcast: push.isBroadcast)
    }
}

extension SimulatedDevice.Activity: CustomStringConvertible {
    /// The content with its timestamp, and whether the activity has ended.
    public var description: String {
        "\(String(decoding: contentState, as: UTF8.self)) at \(timestamp)" + (hasEnded ? ", ended" : "")
    }
}
