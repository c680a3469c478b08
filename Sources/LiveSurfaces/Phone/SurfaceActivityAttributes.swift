// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(ActivityKit) && os(iOS)
    public import ActivityKit
#endif

/// The attributes of a Live Activity that name the surface that it shows.
public protocol SurfaceAttributes {
    /// The surface's identifier.
    var surfaceId: String { get }
}

/// The Live Activity of a snapshot: the app passes this type to ActivityKit, and the server encodes pushes with it.
public struct SurfaceActivityAttributes: SurfaceAttributes, LiveActivityAttributes, Codable, Sendable, Hashable {
    /// The data that changes while the activity runs.
    public struct ContentState: Codable, Sendable, Hashable {
        /// The headline.
        public var headline: String
        /// The text below the headline.
        public var subhead: String
        /// The progress, from 0 to 1.
        public var progress: Double
        /// The stage of the activity.
        public var stage: LiveActivityStage

        /// Creates content.
        public init(headline: String, subhead: String, progress: Double, stage: LiveActivityStage) {
            self.headline = headline
            self.subhead = subhead
            self.progress = progress
            self.stage = stage
        }

        /// The content as JSON, with members in the order of the contract.
        public var json: JSONValue {
            .object(of: [
                "headline": headline, "subhead": subhead, "progress": progress, "stage": stage.rawValue,
            ])
        }
    }

    /// The surface's identifier.
    public var surfaceId: String
    /// The kind of activity, such as "Delivery".
    public var modeLabel: String

    /// Creates attributes.
    public init(surfaceId: String, modeLabel: String) {
        self.surfaceId = surfaceId
        self.modeLabel = modeLabel
    }

    /// The attributes as JSON, with members in the order of the contract.
    public var json: JSONValue { ["surfaceId": .string(surfaceId), "modeLabel": .string(modeLabel)] }
}

#if canImport(ActivityKit) && os(iOS)
    extension SurfaceActivityAttributes: ActivityAttributes {}
#endif
