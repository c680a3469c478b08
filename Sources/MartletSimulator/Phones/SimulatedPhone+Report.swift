// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SimulatedPhone {
    /// A report of the app to its back end.
    public struct Report: Sendable, Hashable {
        /// The content of a report.
        public enum Content: Sendable, Hashable {
            /// The version of the system, such as `26.1`.
            case systemVersion(String)
            /// The token for alerts and background pushes.
            case deviceToken(DeviceToken)
            /// The push-to-start token that the app knows.
            case pushToStartToken(DeviceToken)
            /// The token of all widgets, with their kinds.
            case widgetToken(DeviceToken, kinds: [String])
            /// The tokens of all controls.
            case controlTokens([Control])
            /// The permissions.
            case permissions(Permissions)
            /// All activities that have not ended, in the order of their starts.
            case activities([Activity])
            /// An activity has ended.
            case ended(Ending)
        }

        /// A control with its token.
        public struct Control: Sendable, Hashable {
            /// The kind of the control.
            public let kind: String
            /// The token.
            public let token: DeviceToken
        }

        /// An activity.
        public struct Activity: Sendable, Hashable {
            /// The identifier of the activity, unique on the phone.
            public let id: String
            /// The identifier of the surface.
            public let surface: String
            /// The time of the start, by the phone's clock.
            public let startedAt: Date
            /// Whether a push started the activity, and not the app.
            public let isStartedByPush: Bool
            /// The update token; nil while the system has issued none, and for an activity that a channel updates.
            public let token: DeviceToken?
        }

        /// The end of an activity.
        public struct Ending: Sendable, Hashable {
            /// The identifier of the activity, unique on the phone.
            public let id: String
            /// The identifier of the surface.
            public let surface: String
            /// The cause.
            public let cause: EndCause
            /// The time of the end, by the phone's clock.
            public let endedAt: Date
        }

        /// The cause of the end of an activity.
        public enum EndCause: Sendable, Hashable {
            /// The user swiped the card away.
            case user
            /// The app ended the activity.
            case app
            /// A push ended the activity.
            case push
            /// The system ended the activity: after eight hours, or because of a setting, an update or a new install.
            case system
        }

        /// The number of the report, which rises with each report of the phone; a repeated report has the same number.
        public let number: Int
        /// The content.
        public let content: Content
        /// The time at which the app made the report, by the phone's clock.
        public let date: Date
        /// The time at which the report arrives at the back end.
        public var arrival: Date { Date(millisecondsSince1970: arrivalTime) }
        /// The time of the arrival in milliseconds since 1970.
        let arrivalTime: Int64
    }
}
