public import APNs

#if canImport(ActivityKit) && os(iOS)
    public import ActivityKit
#endif

/// The Live Activity of a snapshot: the phone hands this type to ActivityKit, the server encodes pushes for it.
public struct SurfaceActivityAttributes: LiveActivityAttributes, Codable, Sendable, Hashable {
    /// What changes while the activity runs.
    public struct ContentState: Codable, Sendable, Hashable {
        /// The headline.
        public var headline: String
        /// What stands below it.
        public var subhead: String
        /// How far it has come, from 0 to 1.
        public var progress: Double
        /// Which part of its life it is in.
        public var stage: LiveActivityStage

        /// Content from its parts.
        public init(headline: String, subhead: String, progress: Double, stage: LiveActivityStage) {
            self.headline = headline
            self.subhead = subhead
            self.progress = progress
            self.stage = stage
        }

        /// The content as JSON, members in the order of the contract.
        public var json: JSONValue {
            var members = MemberList(capacity: 4)
            members.add("headline", headline)
            members.add("subhead", subhead)
            members.add("progress", progress)
            members.add("stage", stage)
            return members.object
        }
    }

    /// The surface's identifier.
    public var surfaceId: String
    /// What kind of thing runs.
    public var modeLabel: String

    /// Attributes from their parts.
    public init(surfaceId: String, modeLabel: String) {
        self.surfaceId = surfaceId
        self.modeLabel = modeLabel
    }

    /// The attributes as JSON, members in the order of the contract.
    public var json: JSONValue { ["surfaceId": .string(surfaceId), "modeLabel": .string(modeLabel)] }
}

#if canImport(ActivityKit) && os(iOS)
    extension SurfaceActivityAttributes: ActivityAttributes {}
#endif
