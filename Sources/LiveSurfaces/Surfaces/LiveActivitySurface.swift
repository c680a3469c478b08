// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A Live Activity on the Lock Screen and in the Dynamic Island.
public struct LiveActivitySurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .liveActivity }

    /// The headline.
    public var title: String
    /// The text below the headline; may be empty.
    public var body: String
    /// The progress, from 0 to 1.
    public var progress: Double
    /// The link that a tap opens.
    public var deepLink: String
    /// The kind of activity, such as "Delivery"; fixed when the activity starts.
    public var modeLabel: String
    /// More about the activity, for the app.
    public var contextLabel: String?
    /// A line about the state, for the app.
    public var statusLine: String?
    /// The label of a button, for the app.
    public var actionLabel: String?
    /// The stage of the activity.
    public var stage: LiveActivityStage
    /// The estimated remaining time in seconds; nil if it is not known.
    public var estimatedSeconds: Int?
    /// The number of parts besides the one shown.
    public var morePartsCount: Int?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        modeLabel: String,
        contextLabel: String? = nil,
        statusLine: String? = nil,
        actionLabel: String? = nil,
        stage: LiveActivityStage,
        estimatedSeconds: Int? = nil,
        morePartsCount: Int? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.modeLabel = modeLabel
        self.contextLabel = contextLabel
        self.statusLine = statusLine
        self.actionLabel = actionLabel
        self.stage = stage
        self.estimatedSeconds = estimatedSeconds
        self.morePartsCount = morePartsCount
    }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title, "body": body, "progress": progress, "deepLink": deepLink, "modeLabel": modeLabel,
            "contextLabel": contextLabel, "statusLine": statusLine, "actionLabel": actionLabel, "stage": stage.rawValue,
            "estimatedSeconds": estimatedSeconds, "morePartsCount": morePartsCount,
        ])
    }
}

extension LiveActivitySurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        modeLabel = fields.required("modeLabel", .nonEmptyText)
        contextLabel = fields.optional("contextLabel", .text)
        statusLine = fields.optional("statusLine", .text)
        actionLabel = fields.optional("actionLabel", .nonEmptyText)
        stage = fields.required("stage", .choice(standIn: .prompted))
        estimatedSeconds = fields.optional("estimatedSeconds", .count)
        morePartsCount = fields.optional("morePartsCount", .count)
    }
}

/// The stage of a Live Activity.
public enum LiveActivityStage: String, Sendable, Hashable, CaseIterable, Codable {
    /// The activity is announced.
    case prompted
    /// The activity is in progress.
    case inProgress
    /// The activity is ending.
    case completing
}
