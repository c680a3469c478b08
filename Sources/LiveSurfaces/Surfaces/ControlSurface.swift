public import APNs

/// A control in Control Center.
public struct ControlSurface: Surface {
    /// Which of the six kinds it is.
    public static var kind: SurfaceKind { .control }

    /// What it says.
    public var label: String
    /// Where it leads.
    public var deepLink: String
    /// What sort of control it is.
    public var controlKind: ControlKind
    /// The value of a toggle.
    public var isOn: Bool?
    /// The App Intent that it runs.
    public var intent: String?

    /// Content from its parts; nothing is checked before ``SurfaceSnapshot/validated(categories:)``.
    public init(
        label: String,
        deepLink: String,
        controlKind: ControlKind,
        isOn: Bool? = nil,
        intent: String? = nil
    ) {
        self.label = label
        self.deepLink = deepLink
        self.controlKind = controlKind
        self.isOn = isOn
        self.intent = intent
    }

    /// The content as JSON, members in the order of the contract, without those that are absent.
    public var json: JSONValue {
        var members = MemberList(capacity: 5)
        members.add("label", label)
        members.add("deepLink", deepLink)
        members.add("controlKind", controlKind)
        members.add("state", isOn)
        members.add("intent", intent)
        return members.object
    }
}

extension ControlSurface: ReadableSurface {
    init(reading fields: inout FieldReader) {
        label = fields.required("label", .nonEmptyText)
        deepLink = fields.required("deepLink", .deepLink)
        controlKind = fields.required("controlKind", .choice(standIn: .toggle))
        isOn = fields.optional("state", .flag)
        intent = fields.optional("intent", .text)
    }
}

/// The sorts of controls.
public enum ControlKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// On or off.
    case toggle
    /// Does something.
    case button
    /// Opens the app at a place.
    case deepLink
}
