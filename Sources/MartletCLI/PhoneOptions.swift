// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletSimulator

/// The options of the simulated phones.
struct PhoneOptions: Sendable {
    private var count: PhoneCount?
    private var topic: String?
    private var attributes: PhoneAttributes?
    private var control: String?
    private var areReliable: Bool
    private var relayAddress: InterfaceAddress?
    private var relayApp: AppName?
    private var relayKeyFile: InputFile?

    static let declared = Group(
        Option<PhoneCount?>(
            "--phones",
            "Number of iPhones to simulate, at most 10000: each shows the pushes to its tokens, which its app reports, "
                + "and a summary follows at the end"
        ),
        Option<String?>("--phone-app", "Bundle identifier of the app on these phones; com.example.app by default"),
        Option<PhoneAttributes?>(
            "--phone-attributes",
            "Type of the attributes of the app's Live Activities, and the member that tells what a card is about; "
                + "SurfaceActivityAttributes.surfaceId by default"
        ),
        Option<String?>(
            "--phone-control",
            "Kind of the app's control, which each user has added along with a widget; \"control\" by default"
        ),
        Flag("--reliable-phones", "Simulate phones whose tokens and reports are never lost or late"),
        Option<InterfaceAddress?>(
            "--phone-relay",
            "HTTP interface of the relay to which the apps on the phones report; by default, only the simulator has "
                + "the reports"
        ),
        Option<AppName?>("--phone-relay-app", "Name of the app in the configuration of the relay"),
        Option<InputFile?>(
            "--phone-relay-key-file",
            "File whose first line is an API key of the relay with the scope installations"
        )
    ) {
        PhoneOptions(
            count: $0,
            topic: $1,
            attributes: $2,
            control: $3,
            areReliable: $4,
            relayAddress: $5,
            relayApp: $6,
            relayKeyFile: $7
        )
    }

    /// Returns the phones that the options specify; nil for none.
    func phones() throws(UsageError) -> SimulatedAPNs.Phones? {
        guard let count else {
            guard topic == nil, attributes == nil, control == nil, !areReliable, relayAddress == nil else {
                throw UsageError(
                    "--phone-app, --phone-attributes, --phone-control, --reliable-phones and --phone-relay need"
                        + " --phones"
                )
            }
            return nil
        }
        var app = SimulatedPhone.App(
            topic: Topic(topic ?? "com.example.app"),
            // One token is for all widgets, whatever their kinds.
            widgets: ["widget"],
            controls: [control ?? "control"]
        )
        if let attributes {
            app.attributesType = attributes.type
            app.surfaceName = attributes.surfaceName
        }
        let behavior = areReliable ? SimulatedPhone.Behavior.reliable : SimulatedPhone.Behavior()
        return SimulatedAPNs.Phones(count: count.value, app: app, behavior: behavior)
    }

    /// Returns the relay at which the phones enroll; nil for none.
    private func relay() throws(UsageError) -> PhoneRelay? {
        guard let relayAddress else {
            guard relayApp == nil, relayKeyFile == nil else {
                throw UsageError("--phone-relay-app and --phone-relay-key-file need --phone-relay")
            }
            return nil
        }
        guard let relayApp, let relayKeyFile else {
            throw UsageError("--phone-relay needs --phone-relay-app and --phone-relay-key-file")
        }
        return PhoneRelay(address: relayAddress, app: relayApp.text, keyFile: relayKeyFile)
    }

    /// Returns the enrollments of phones at the relay that the options specify; nil for none.
    func reporter(
        for phones: SimulatedAPNs.Phones?,
        in environment: SimulatedAPNs.Environment
    ) throws -> PhoneReporter? {
        guard let relay = try relay(), let phones else { return nil }
        return try PhoneReporter(relay, app: phones.app, in: environment)
    }
}

/// A number of simulated phones.
private struct PhoneCount: ArgumentValue {
    let value: Int

    /// Parses a number.
    init(argument: String) throws(UsageError) {
        guard let value = Int(argument), (1...SimulatedAPNs.Phones.limit).contains(value) else {
            let found = ShownValue.quoted(argument)
            throw UsageError("must be an integer from 1 to \(SimulatedAPNs.Phones.limit) (found \(found))")
        }
        self.value = value
    }

    static var valueName: String { "number" }
}

/// A type of attributes with the member that identifies the surface.
private struct PhoneAttributes: ArgumentValue {
    let type: String
    let surfaceName: String

    /// Parses both names, with a dot between them.
    init(argument: String) throws(UsageError) {
        let names = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard names.count == 2, !names[0].isEmpty, !names[1].isEmpty else {
            let found = ShownValue.quoted(argument)
            throw UsageError("must be a type and a member, as in OrderAttributes.orderId (found \(found))")
        }
        (type, surfaceName) = (String(names[0]), String(names[1]))
    }

    static var valueName: String { "type.member" }
}
