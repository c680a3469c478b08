// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A control in Control Center.
public struct ControlSurface: Surface {
    /// The kind of surface.
    public static var kind: SurfaceKind { .control }

    /// The label.
    public var label: String
    /// The link that the control opens.
    public var deepLink: String
    /// The kind of control.
    public var controlKind: ControlKind
    /// The value of a toggle.
    public var isOn: Bool?
    /// The App Intent that the control runs.
    public var intent: String?

    /// Creates content; only ``SurfaceSnapshot/validated(categories:)`` validates it.
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

    /// The content as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: [
            "label": label, "deepLink": deepLink, "controlKind": controlKind.rawValue, "state": isOn, "intent": intent,
        ])
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

/// The kinds of controls.
public enum ControlKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A control that is on or off.
    case toggle
    /// A control that performs an action.
    case button
    /// A control that opens a place in the app.
    case deepLink
}
