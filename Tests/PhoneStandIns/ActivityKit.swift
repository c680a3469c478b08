// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// Declarations of ActivityKit that the phone's code uses, for Scripts/check phone.

@_exported public import Foundation

/// https://developer.apple.com/documentation/activitykit/activityattributes
public protocol ActivityAttributes: Decodable, Encodable {
    /// https://developer.apple.com/documentation/activitykit/activityattributes/contentstate
    associatedtype ContentState: Decodable, Encodable, Hashable
}

/// https://developer.apple.com/documentation/activitykit/activitycontent
public struct ActivityContent<State: Decodable & Encodable & Hashable> {
    /// https://developer.apple.com/documentation/activitykit/activitycontent/init(state:staledate:relevancescore:)
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }

    public var state: State
    public var staleDate: Date?
    public var relevanceScore: Double
}

extension ActivityContent: Sendable where State: Sendable {}

/// https://developer.apple.com/documentation/activitykit/pushtype
public struct PushType: Sendable {
    /// https://developer.apple.com/documentation/activitykit/pushtype/token
    public static var token: PushType { PushType() }
    /// https://developer.apple.com/documentation/activitykit/pushtype/channel(_:)
    public static func channel(_ channelId: String) -> PushType { PushType() }
}

/// https://developer.apple.com/documentation/activitykit/activitystate
public enum ActivityState: Sendable, Hashable {
    case pending, active, stale, ended, dismissed
}

/// https://developer.apple.com/documentation/activitykit/activityuidismissalpolicy
public struct ActivityUIDismissalPolicy: Sendable {
    public static let `default` = ActivityUIDismissalPolicy()
    public static let immediate = ActivityUIDismissalPolicy()
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { ActivityUIDismissalPolicy() }
}

/// https://developer.apple.com/documentation/activitykit/activity
public final class Activity<Attributes: ActivityAttributes>: Sendable {
    /// https://developer.apple.com/documentation/activitykit/activity/contentstate-swift.typealias
    public typealias ContentState = Attributes.ContentState

    private init() { fatalError("a stand-in") }

    /// https://developer.apple.com/documentation/activitykit/activity/request(attributes:content:pushtype:)
    public static func request(
        attributes: Attributes,
        content: ActivityContent<Activity<Attributes>.ContentState>,
        pushType: PushType? = nil
    ) throws -> Activity<Attributes> { fatalError("a stand-in") }

    /// https://developer.apple.com/documentation/activitykit/activity/id
    public var id: String { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/attributes
    public var attributes: Attributes { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/content
    public var content: ActivityContent<Activity<Attributes>.ContentState> { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/activities
    public static var activities: [Activity<Attributes>] { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/pushtoken
    public var pushToken: Data? { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/pushtostarttoken
    public static var pushToStartToken: Data? { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/pushtokenupdates-swift.property
    public var pushTokenUpdates: PushTokenUpdates { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/pushtostarttokenupdates
    public static var pushToStartTokenUpdates: PushTokenUpdates { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/activityupdates-swift.type.property
    public static var activityUpdates: ActivityUpdates { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/activitystate
    public var activityState: ActivityState { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/activitystateupdates-swift.property
    public var activityStateUpdates: ActivityStateUpdates { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activity/end(_:dismissalpolicy:)
    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {}

    /// https://developer.apple.com/documentation/activitykit/activity/pushtokenupdates-swift.struct
    public struct PushTokenUpdates: AsyncSequence {
        public typealias Element = Data
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Data? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    /// https://developer.apple.com/documentation/activitykit/activity/activityupdates-swift.struct
    public struct ActivityUpdates: AsyncSequence {
        public typealias Element = Activity<Attributes>
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Activity<Attributes>? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    /// https://developer.apple.com/documentation/activitykit/activity/activitystateupdates-swift.struct
    public struct ActivityStateUpdates: AsyncSequence {
        public typealias Element = ActivityState
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> ActivityState? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }
}

/// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo
public final class ActivityAuthorizationInfo: Sendable {
    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/init()
    public init() {}
    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/areactivitiesenabled
    public var areActivitiesEnabled: Bool { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/activityenablementupdates-swift.property
    public let activityEnablementUpdates = ActivityEnablementUpdates()
    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/frequentpushesenabled
    public var frequentPushesEnabled: Bool { fatalError("a stand-in") }
    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/frequentpushenablementupdates-swift.property
    public let frequentPushEnablementUpdates = FrequentPushEnablementUpdates()

    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/activityenablementupdates-swift.struct
    public struct ActivityEnablementUpdates: AsyncSequence, Sendable {
        public typealias Element = Bool
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Bool? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    /// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo/frequentpushenablementupdates-swift.struct
    public struct FrequentPushEnablementUpdates: AsyncSequence, Sendable {
        public typealias Element = Bool
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Bool? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }
}
