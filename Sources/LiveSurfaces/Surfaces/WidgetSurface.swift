// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A widget on the Home Screen.
public struct WidgetSurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .widget }

    /// The headline.
    public var title: String
    /// The text below the headline; may be empty.
    public var body: String
    /// The progress, from 0 to 1; 0 or 1 for a widget without progress.
    public var progress: Double
    /// The link that a tap opens.
    public var deepLink: String
    /// The intended size.
    public var family: WidgetFamily?
    /// The reload policy of the timeline.
    public var reloadPolicy: WidgetReloadPolicy?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        title: String,
        body: String,
        progress: Double,
        deepLink: String,
        family: WidgetFamily? = nil,
        reloadPolicy: WidgetReloadPolicy? = nil
    ) {
        self.title = title
        self.body = body
        self.progress = progress
        self.deepLink = deepLink
        self.family = family
        self.reloadPolicy = reloadPolicy
    }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title, "body": body, "progress": progress, "deepLink": deepLink, "family": family?.rawValue,
            "reloadPolicy": reloadPolicy?.rawValue,
        ])
    }
}

extension WidgetSurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        body = fields.required("body", .text)
        progress = fields.required("progress", .fraction)
        deepLink = fields.required("deepLink", .deepLink)
        family = fields.optional("family", .choice(standIn: .systemSmall))
        reloadPolicy = fields.optional("reloadPolicy", .choice(standIn: .manual))
    }
}

/// The sizes of widgets.
public enum WidgetFamily: String, Sendable, Hashable, CaseIterable, Codable {
    /// A square.
    case systemSmall
    /// Two squares side by side.
    case systemMedium
    /// Four squares.
    case systemLarge
}

/// The reload policies of a widget's timeline.
public enum WidgetReloadPolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// The app requests a reload.
    case manual
    /// The system requests a reload after a date.
    case afterDate
}
