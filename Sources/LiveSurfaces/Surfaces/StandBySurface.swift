// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A view in StandBy.
public struct StandBySurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .standBy }

    /// The headline.
    public var title: String
    /// The text below the headline; may be empty.
    public var body: String
    /// The progress, from 0 to 1.
    public var progress: Double
    /// The link that a tap opens.
    public var deepLink: String
    /// The presentation; a card by default.
    public var presentation: StandByPresentation
    /// The colors.
    public var tint: StandByTint?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        presentation: StandByPresentation = .card,
        tint: StandByTint? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.presentation = presentation
        self.tint = tint
    }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title, "body": body, "progress": progress, "deepLink": deepLink,
            "presentation": presentation.rawValue, "tint": tint?.rawValue,
        ])
    }
}

extension StandBySurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        presentation = fields.optional("presentation", .choice(standIn: .card), default: .card)
        tint = fields.optional("tint", .choice(standIn: .default))
    }
}

/// The presentations of a StandBy view.
public enum StandByPresentation: String, Sendable, Hashable, CaseIterable, Codable {
    /// A card.
    case card
    /// A dimmed view for the night.
    case night
}

/// The colors of a StandBy view.
public enum StandByTint: String, Sendable, Hashable, CaseIterable, Codable {
    /// The view's own colors.
    case `default`
    /// A single color.
    case monochrome
}
