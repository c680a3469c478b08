// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SimulatedPhone {
    /// The app on the phone.
    public struct App: Sendable, Hashable {
        /// The app's bundle identifier.
        public var topic: Topic
        /// The name of the app's attributes type; the phone ignores a start with another one.
        public var attributesType: String
        /// The name of the member of the attributes that identifies the surface; the phone ignores a start without it,
        /// as the app could not decode its attributes.
        public var surfaceName: String
        /// The kinds of the widgets that the user has added and that have a push handler; none by default.
        public var widgets: [String]
        /// The kinds of the controls that the user has added and that have a push handler, each once; none by default.
        public var controls: [String]

        /// Creates an app, by default with the attributes type of `LiveSurfaces`.
        public init(
            topic: Topic,
            attributesType: String = "SurfaceActivityAttributes",
            surfaceName: String = "surfaceId",
            widgets: [String] = [],
            controls: [String] = []
        ) {
            self.topic = topic
            self.attributesType = attributesType
            self.surfaceName = surfaceName
            self.widgets = widgets
            self.controls = controls
        }
    }

    /// The permissions of the app in Settings.
    public struct Permissions: Sendable, Hashable {
        /// Whether the user allows notifications.
        public var alerts: Bool
        /// Whether the user allows Live Activities (`ActivityAuthorizationInfo.areActivitiesEnabled`).
        public var liveActivities: Bool
        /// Whether the user allows frequent updates of Live Activities
        /// (`ActivityAuthorizationInfo.frequentPushesEnabled`).
        public var frequentUpdates: Bool

        /// Creates permissions, all granted by default.
        public init(alerts: Bool = true, liveActivities: Bool = true, frequentUpdates: Bool = true) {
            self.alerts = alerts
            self.liveActivities = liveActivities
            self.frequentUpdates = frequentUpdates
        }
    }

    /// The state of the app.
    public enum AppState: Sendable, Hashable {
        /// The app is not installed.
        case absent
        /// The app is in front.
        case foreground
        /// The app is in memory and does not run.
        case suspended
        /// The app is not in memory.
        case terminated
        /// The user has removed the app from the app switcher.
        case forceQuit
    }

    /// An action of the user, the system or the app.
    public enum Event: Sendable, Hashable {
        /// The user installs the app, or installs it again: its activities and tokens end.
        case install
        /// The user deletes the app.
        case delete
        /// The user opens the app, which reports all that it knows.
        case launch
        /// The user leaves the app, which is suspended.
        case leave
        /// The system removes the suspended app from memory.
        case terminate
        /// The user removes the app from the app switcher.
        case forceQuit
        /// The system is updated and the phone restarts.
        case updateSystem
        /// The user changes the permissions in Settings. A change of Live Activities or of frequent updates ends all
        /// activities.
        case setPermissions(Permissions)
        /// The user taps Allow on the first card of a push-started activity; no effect without such a card.
        case allow
        /// The user swipes the card with an identifier away.
        case swipe(String)
        /// The phone loses or gains its connection.
        case setOnline(Bool)
        /// The user turns Low Power Mode on or off.
        case setLowPower(Bool)
        /// The app starts an activity; no effect unless the app is in front, and beyond the limit of activities.
        case start(surface: String, content: JSONValue)
        /// The app ends the activities of a surface and removes their cards; no effect unless the app is in memory.
        case end(surface: String)
    }

    /// The answer of APNs to a push to a token of the phone.
    public enum Answer: Sendable, Hashable {
        /// APNs accepts the push, which the phone may still drop.
        case accepted
        /// APNs refuses the push, such as with `BadDeviceToken` for a token that the phone never had.
        case refused(APNsReason)
        /// The token has been invalid since a time.
        case unregistered(since: Date)

        /// The HTTP status.
        public var status: Int {
            switch self {
            case .accepted: 200
            case .refused(let reason): reason.status ?? 400
            case .unregistered: 410
            }
        }
    }

    /// A card on the Lock Screen.
    public struct Card: Sendable, Hashable, Identifiable {
        /// The state of an activity.
        public enum State: Sendable, Hashable {
            /// The activity is updated.
            case active
            /// The stale date of the content has passed.
            case stale
            /// The activity has ended, and its card is still visible.
            case ended
        }

        /// The identifier of the activity, unique on the phone.
        public let id: String
        /// The identifier of the surface.
        public let surface: String
        /// The state.
        public let state: State
        /// The content on the screen.
        public let content: JSONValue
        /// The time of the start, by the real clock.
        public let startedAt: Date
        /// Whether a push started the activity, and not the app.
        public let isStartedByPush: Bool
    }
}
