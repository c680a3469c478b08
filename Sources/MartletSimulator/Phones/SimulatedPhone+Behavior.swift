// SPDX-License-Identifier: Apache-2.0

extension SimulatedPhone {
    /// The behavior of a phone, of its system and of the app, where Apple publishes no number or reports differ.
    ///
    /// Each default names its source: Apple's documentation or forum, a field report, or an assumption.
    public struct Behavior: Sendable, Hashable {
        /// The limits of the system.
        public var limits = Limits()
        /// The issue and the end of tokens.
        public var tokens = Tokens()
        /// The delivery of the app's reports to its back end.
        public var reports = Reports()
        /// The version of the system that the app reports, which does not change the behavior; "26.1" by default.
        public var systemVersion = "26.1"
        /// Whether the app ends every activity of a surface except the newest, each time that it runs; true by default
        /// (field report: Kilo #5881).
        public var endsDuplicates = true
        /// The probability that a push start shows two cards, as reported for some iPads; 0 by default, for an iPhone.
        public var duplicateStart = 0.0
        /// Whether Live Activities survive an update of the system; true by default (assumption).
        public var keepsActivitiesInSystemUpdate = true
        /// The number of seconds by which the clock of the phone is ahead of the real time; negative when it is behind,
        /// 0 by default.
        ///
        /// The phone compares `timestamp`, `stale-date` and `dismissal-date` with its clock.
        public var clockOffset = 0

        /// Creates the behavior with the defaults.
        public init() {}

        /// The behavior of a phone without faults.
        ///
        /// Every wake succeeds, the user need not allow the first card, no token changes by itself, no report is lost
        /// or late, and an invalid token is always answered with 410. The limits are the defaults, but the phone delays
        /// no push and shows every content at once.
        public static var reliable: Behavior {
            var behavior = Behavior()
            behavior.limits.renderInterval = .zero
            behavior.limits.powerAwareDelay = .zero
            behavior.tokens = .reliable
            behavior.reports = .reliable
            return behavior
        }
    }

    /// The limits of the system for one app.
    ///
    /// An activity is active for at most eight hours, and its card stays for at most four more ("Displaying live data
    /// with Live Activities"); these two limits are fixed. A budget below 1 counts as 1, and a negative duration as
    /// zero.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of activities of the app that are active at the same time; 5 by default (field reports:
        /// PushWard, OneSignal, Adobe).
        public var activities = 5
        /// The number of push starts that the phone accepts in a short time; 10 by default (Apple forum 799505).
        public var starts = 10
        /// The interval after which the phone accepts one more push start; 2.4 hours by default (assumption: Apple
        /// staff and others say that the budget needs up to 24 hours).
        public var startInterval = Duration.seconds(8_640)
        /// The number of updates with priority 10 per hour; 15 by default (field report: PushWard).
        public var updatesPerHour = 15
        /// The number of updates with priority 10 per hour while the user allows frequent updates; 240 by default
        /// (field report: luka #146).
        public var frequentUpdatesPerHour = 240
        /// The minimum interval between two contents on the screen; 15 seconds by default (field report: Home
        /// Assistant).
        public var renderInterval = Duration.seconds(15)
        /// The maximum delay of a push with priority 5 or 1; 60 seconds by default (assumption).
        public var powerAwareDelay = Duration.seconds(60)
        /// The factor by which Low Power Mode extends ``powerAwareDelay``, from 1 to 1,000; 5 by default (assumption).
        public var lowPowerFactor = 5
        /// The maximum time by which `timestamp` may be ahead of the phone's clock; 8 hours by default (Apple forum
        /// 776165).
        public var timestampLead = Duration.seconds(8 * 3_600)
        /// The number of widget reloads per day; 50 by default ("Keeping a widget up to date": 40 to 70).
        public var widgetReloadsPerDay = 50
        /// The minimum interval between two widget reloads; 5 minutes by default ("Keeping a widget up to date").
        public var widgetReloadInterval = Duration.seconds(300)
        /// The number of background pushes per hour that wake the app; 3 by default ("Pushing background updates to
        /// your App").
        public var backgroundPushesPerHour = 3
        /// Whether APNs stores one push of each collapse identifier for a token while the phone is offline, and not one
        /// of each token.
        ///
        /// False by default ("Sending notification requests to APNs"); "User Notifications updates" of June 2024
        /// mentions several.
        public var storesByCollapseID = false

        /// Creates the limits with the defaults.
        public init() {}
    }

    /// The issue and the end of tokens; probabilities are from 0 to 1.
    public struct Tokens: Sendable, Hashable {
        /// The time until the system issues an update token while the app is in memory; 2 seconds by default
        /// (assumption).
        public var delayWhileRunning = Duration.seconds(2)
        /// The time until the system issues an update token after it has launched the app; 20 seconds by default
        /// (assumption).
        public var delayAfterLaunch = Duration.seconds(20)
        /// Whether the system issues no update token of a push-started activity until the user allows Live Activities
        /// on the first card; true by default (Apple forum 801072).
        public var waitForAllow = true
        /// The probability that the system wakes the suspended app; 0.95 by default (assumption).
        public var wakeWhileSuspended = 0.95
        /// The probability that the system wakes the terminated app; 0.5 by default (field report: Home Assistant).
        public var wakeWhileTerminated = 0.5
        /// The probability that the system wakes the app after a force-quit; 0.1 by default (Apple staff and field
        /// reports disagree).
        public var wakeAfterForceQuit = 0.1
        /// The probability that the system never issues a push-to-start token; 0.02 by default (Apple forum 835188; the
        /// rate is an assumption).
        public var missingStart = 0.02
        /// The probability that the app learns of a new push-to-start token only at its launch; 0.05 by default (field
        /// report: luka #146; the rate is an assumption).
        public var silentStream = 0.05
        /// The probability that an update of the system replaces the push-to-start token, of which the app learns
        /// nothing until the user turns Live Activities off and on; 0.05 by default (field report: luka #146; the rate
        /// is an assumption).
        ///
        /// APNs accepts pushes to the old token.
        public var silenceAfterSystemUpdate = 0.05
        /// The probability per hour that the system replaces an update token; 0.02 by default (assumption).
        public var updateRotation = 0.02
        /// The probability per day that the system replaces the push-to-start token; 0.02 by default (assumption).
        public var startRotation = 0.02
        /// The probability that the system replaces the push-to-start token after a push start; 0.3 by default (field
        /// report; the rate is an assumption).
        public var startRotationAfterStart = 0.3
        /// The probability that APNs answers a push to an invalid token with 410, and not with 200; 0.5 by default
        /// (field reports; the rate is an assumption).
        ///
        /// It is drawn once for each token, and once for all tokens of a deleted app.
        public var refusalOfInvalid = 0.5

        /// Creates the rules with the defaults.
        public init() {}

        /// The rules without faults and without delays, and without waiting for the user.
        static var reliable: Tokens {
            var tokens = Tokens()
            tokens.delayWhileRunning = .zero
            tokens.delayAfterLaunch = .zero
            tokens.waitForAllow = false
            tokens.wakeWhileSuspended = 1
            tokens.wakeWhileTerminated = 1
            tokens.wakeAfterForceQuit = 1
            tokens.missingStart = 0
            tokens.silentStream = 0
            tokens.silenceAfterSystemUpdate = 0
            tokens.updateRotation = 0
            tokens.startRotation = 0
            tokens.startRotationAfterStart = 0
            tokens.refusalOfInvalid = 1
            return tokens
        }
    }

    /// The delivery of reports to the back end; probabilities are from 0 to 1.
    public struct Reports: Sendable, Hashable {
        /// The probability that a report is lost; 0.02 by default (field report: Home Assistant iOS #4877; the rate is
        /// an assumption).
        ///
        /// With 1 no report arrives.
        public var loss = 0.02
        /// The probability that a report is late; 0.1 by default (assumption).
        public var lateness = 0.1
        /// The probability that a report arrives twice; 0.02 by default (assumption).
        public var repetition = 0.02
        /// The maximum delay of a report; 5 seconds by default (assumption).
        public var delay = Duration.seconds(5)
        /// The maximum delay of a late report; 2 hours by default (field report: Home Assistant iOS #4877).
        public var lateDelay = Duration.seconds(7_200)

        /// Creates the rules with the defaults.
        public init() {}

        /// The rules without faults and without delays.
        static var reliable: Reports {
            var reports = Reports()
            reports.loss = 0
            reports.lateness = 0
            reports.repetition = 0
            reports.delay = .zero
            return reports
        }
    }
}

extension Duration {
    /// The number of milliseconds, from 0 to a hundred years.
    var clampedMilliseconds: Int64 {
        guard self > .zero else { return 0 }
        let longest: Int64 = 100 * 365 * 86_400
        guard components.seconds < longest else { return longest * 1_000 }
        return components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension RandomNumberGenerator {
    /// Returns true with a probability from 0 to 1.
    mutating func decides(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }
}
