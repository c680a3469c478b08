// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// An accessory on the Lock Screen.
public struct LockAccessorySurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .lockAccessory }

    /// The headline.
    public var title: String
    /// The link that a tap opens.
    public var deepLink: String
    /// The intended family.
    public var family: AccessoryFamily
    /// The value of the gauge, from 0 to 1.
    public var gaugeValue: Double?
    /// The text for a small space; at most 20 UTF-16 code units.
    public var shortText: String?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        title: String,
        deepLink: String,
        family: AccessoryFamily,
        gaugeValue: Double? = nil,
        shortText: String? = nil
    ) {
        self.title = title
        self.deepLink = deepLink
        self.family = family
        self.gaugeValue = gaugeValue
        self.shortText = shortText
    }

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "title": title, "deepLink": deepLink, "family": family.rawValue, "gaugeValue": gaugeValue,
            "shortText": shortText,
        ])
    }
}

extension LockAccessorySurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        title = fields.required("title", .nonEmptyText)
        deepLink = fields.required("deepLink", .deepLink)
        family = fields.required("family", .choice(standIn: .accessoryInline))
        gaugeValue = fields.optional("gaugeValue", .fraction)
        shortText = fields.optional("shortText", .text(minimum: 0, maximum: 20))
    }
}

/// The families of Lock Screen accessories.
public enum AccessoryFamily: String, Sendable, Hashable, CaseIterable, Codable {
    /// A circle.
    case accessoryCircular
    /// A rectangle.
    case accessoryRectangular
    /// A line of text.
    case accessoryInline
}
