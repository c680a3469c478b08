// SPDX-License-Identifier: Apache-2.0

public import LiveSurfaces
public import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The delivery options of a snapshot, which replace the defaults of its kind.
public struct SurfaceDelivery: Sendable {
    /// The priority of the delivery; nil for 10 for alerts and starts, and 5 for other pushes.
    public var priority: LiveActivityPriority?
    /// The time until which APNs may deliver the push; nil for an hour, and for a single attempt for broadcasts.
    public var expiration: PushNotification.Expiration?
    /// The identifier with which alerts replace each other on the device; nil for none.
    public var collapseID: CollapseID?
    /// The timestamp of a push to a Live Activity; nil to let the client choose, as
    /// ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)`` does.
    public var timestamp: Date?
    /// The time from which on the content of a Live Activity counts as outdated; nil for never.
    public var staleDate: Date?
    /// The relevance that decides which of several Live Activities is shown first; nil for the system's choice.
    public var relevanceScore: Double?
    /// The alert of a push to a Live Activity; nil for the snapshot's title and body when the activity starts, and for
    /// no alert when it changes or ends.
    public var alert: LiveActivityAlert?
    /// The way in which a started Live Activity is reached by later pushes.
    public var updateSource: LiveActivityStart.UpdateSource
    /// The name of the app's attributes type; `SurfaceActivityAttributes` by default.
    public var attributesType: String
    /// The notification categories that the app supports.
    public var categories: NotificationCategories
    /// The differences to the pushes of `@mobile-surfaces/push` that are turned off; none by default.
    public var compatibility: SurfaceCompatibility
    /// The push's identifier; nil to derive it from the snapshot's, so that another attempt, by any process, has the
    /// same identifier.
    public var id: APNsID?

    /// Creates options with the default values, except for the given ones.
    public init(
        priority: LiveActivityPriority? = nil,
        expiration: PushNotification.Expiration? = nil,
        collapseID: CollapseID? = nil,
        timestamp: Date? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil,
        alert: LiveActivityAlert? = nil,
        updateSource: LiveActivityStart.UpdateSource = .byApp,
        attributesType: String = SurfaceActivityAttributes.attributesType,
        categories: NotificationCategories = .standard,
        compatibility: SurfaceCompatibility = [],
        id: APNsID? = nil
    ) {
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.timestamp = timestamp
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
        self.alert = alert
        self.updateSource = updateSource
        self.attributesType = attributesType
        self.categories = categories
        self.compatibility = compatibility
        self.id = id
    }

    /// The name of the attributes type as a start has it.
    package var sentAttributesType: String {
        attributesType == SurfaceActivityAttributes.attributesType && compatibility.contains(.attributesType)
            ? SurfaceCompatibility.originalAttributesType : attributesType
    }

    /// Sets the timestamp of a push to a Live Activity that is sent later.
    ///
    /// - Parameters:
    ///   - time: The time of sending, in milliseconds since 1970.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    package mutating func schedule(at time: Int64, to destination: SurfaceDestination, topic: Topic) {
        timestamp = destination.activity(of: topic).map { event, _ in
            Date(secondsSince1970: event.timestamp(at: time * 1_000))
        }
    }

    func id(of snapshot: SurfaceSnapshot, to destination: SurfaceDestination) throws(APNsError) -> APNsID {
        if let id { return id }
        do throws(CryptographyError) {
            let hash = try SHA256.hash(Array("\(snapshot.kind.rawValue)\n\(snapshot.id)\n\(destination.name)".utf8))
            return APNsID(hash: hash)
        } catch {
            throw APNsError(.system, description: "cannot create an identifier: \(error)")
        }
    }
}
