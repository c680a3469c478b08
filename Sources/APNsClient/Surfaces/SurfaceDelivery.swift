public import APNs
public import LiveSurfaces
internal import Wire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How a snapshot is sent, where the defaults of its kind are not what is wanted.
public struct SurfaceDelivery: Sendable {
    /// How soon it should arrive; nil for 10 for alerts and starts, and 5 for the rest.
    public var priority: LiveActivityPriority?
    /// Until when it is worth delivering; nil for an hour, and for one attempt by broadcasts.
    public var expiration: Expiration?
    /// Makes alerts of the same identifier replace each other on the device; nil for none.
    public var collapseID: CollapseID?
    /// The timestamp of a push to a Live Activity; nil to let the client choose, as
    /// ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)`` does.
    public var timestamp: Date?
    /// From when on the content of a Live Activity counts as outdated; nil for never.
    public var staleDate: Date?
    /// Which of several Live Activities is shown first; nil to leave it to the system.
    public var relevanceScore: Double?
    /// How a Live Activity that is started is reached afterwards.
    public var reach: LiveActivityStart.Reach
    /// The name of the app's attributes type; `SurfaceActivityAttributes` by default.
    public var attributesType: String
    /// The notification categories that the app knows.
    public var categories: NotificationCategories
    /// The push's identifier; nil to derive it from the snapshot's, so that another try, by whatever process, is the
    /// same push.
    public var id: APNsID?

    /// The defaults, save what is given.
    public init(
        priority: LiveActivityPriority? = nil,
        expiration: Expiration? = nil,
        collapseID: CollapseID? = nil,
        timestamp: Date? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil,
        reach: LiveActivityStart.Reach = .byApp,
        attributesType: String = SurfaceActivityAttributes.attributesType,
        categories: NotificationCategories = .standard,
        id: APNsID? = nil
    ) {
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.timestamp = timestamp
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
        self.reach = reach
        self.attributesType = attributesType
        self.categories = categories
        self.id = id
    }

    /// The identifier of the push that brings this snapshot there.
    func id(of snapshot: SurfaceSnapshot, to destination: SurfaceDestination) throws(APNsError) -> APNsID {
        if let id { return id }
        do throws(CryptographyError) {
            let hash = try SHA256.hash(Array("\(snapshot.kind.rawValue)\n\(snapshot.id)\n\(destination.name)".utf8))
            return APNsID(hash: hash)
        } catch {
            throw APNsError(.system, description: "no identifier can be made: \(error)")
        }
    }
}
