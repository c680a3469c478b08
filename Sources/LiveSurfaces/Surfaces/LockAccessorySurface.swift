public import APNs

/// An accessory on the Lock Screen.
public struct LockAccessorySurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .lockAccessory }

    /// What it says.
    public var title: String
    /// Where a tap leads.
    public var deepLink: String
    /// The form it is meant for.
    public var family: AccessoryFamily
    /// What its gauge shows, from 0 to 1.
    public var gaugeValue: Double?
    /// What stands in a small place; 20 UTF-16 code units at most.
    public var shortText: String?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
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

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 5)
        members.add("title", title)
        members.add("deepLink", deepLink)
        members.add("family", family)
        members.add("gaugeValue", gaugeValue)
        members.add("shortText", shortText)
        return members.object
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

/// The forms of Lock Screen accessories.
public enum AccessoryFamily: String, Sendable, Hashable, CaseIterable, Codable {
    /// A circle.
    case accessoryCircular
    /// A rectangle.
    case accessoryRectangular
    /// One line of text.
    case accessoryInline
}
