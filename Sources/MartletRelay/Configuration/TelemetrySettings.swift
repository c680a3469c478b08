// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The export of spans: the configuration's `telemetry`, and the variables of OpenTelemetry's
/// specification.
///
/// Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter.
package struct TelemetrySettings: Sendable, Hashable {
    /// The address to which spans are posted.
    var address: WebAddress
    /// Header fields that the collector needs, such as one with an API key.
    var fields: HTTPFields
    /// PEM certificates to trust in addition to the system's; nil for none.
    var authorities: String?
    /// The resource attributes that identify this relay.
    var attributes: [Attribute] = []
    /// The share of the traces started here that is recorded, 0 to 1.
    var share = defaultShare
    /// The maximum time for one answer of the collector.
    var timeout = Duration.seconds(10)
    /// Warnings about variables that have no effect, a sentence each.
    var remarks: [String] = []

    private static let defaultShare = 1.0
    private static let defaultServiceName = "martlet-relay"

    private static let endpoint = SettingKey("endpoint", .collector, .none, .restart)
        .help("OTLP collector, as in `http://127.0.0.1:4318`")
    private static let headersFile = SettingKey("headers-file", .secretFile, .none, .restart)
        .help("file with headers for the collector, `name=value` separated by commas or lines")
    private static let authorities = SettingKey("authorities", .file, .none, .restart)
        .help("PEM certificates to trust besides the system's")
    private static let serviceName = SettingKey("service-name", .text, .value(defaultServiceName), .restart)
        .help("`service.name` of the export")
    private static let sample = SettingKey("sample", .share, .value(defaultShare), .restart)
        .help("share of traces that are recorded, of those that begin in the relay")

    static let settings: [Setting<Self>] = [
        Setting(separate: endpoint), Setting(separate: headersFile), Setting(separate: authorities),
        Setting(separate: serviceName), Setting(separate: sample),
    ]

    /// A sentence that names the destination.
    package var summary: String { "Exports traces to \(address)." }

    /// Reads the settings of a file and of variables, which take precedence; nil without a collector.
    init?(
        _ object: ConfigurationField,
        _ places: ConfigurationDirectories,
        variables: [String: String]
    ) throws(RelayError) {
        let variables = TelemetryVariables(variables)
        guard variables["OTEL_SDK_DISABLED"]?.lowercased() != "true",
            variables["OTEL_TRACES_EXPORTER"]?.lowercased() != "none"
        else { return nil }
        let fields = try Self.headersFile.valueIfPresent(in: object, places).map { (text) throws(RelayError) in
            try HTTPFields(baggage: text, named: object["headers-file"].path.description)
        }
        let endpoint = try Self.endpoint.valueIfPresent(in: object, places)
        guard let address = try variables.address(endpoint) else { return nil }
        self.address = address
        self.fields = try variables.fields() ?? fields ?? [:]
        authorities = try Self.authorities.valueIfPresent(in: object, places)
        if let file = variables["OTEL_EXPORTER_OTLP_CERTIFICATE"] {
            authorities = try places.text(file, "OTEL_EXPORTER_OTLP_CERTIFICATE")
        }
        let name = try Self.serviceName.valueIfPresent(in: object, places)
        attributes = try variables.attributes(
            serviceName: variables["OTEL_SERVICE_NAME"] ?? name,
            default: Self.defaultServiceName
        )
        let sample = try Self.sample.value(in: object, places)
        share = try variables.share() ?? sample
        if let time = try variables.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT") { timeout = .milliseconds(time) }
        if let name = variables["OTEL_EXPORTER_OTLP_PROTOCOL"], name != "http/json" {
            let found = ShownValue(name)
            remarks.append("OTEL_EXPORTER_OTLP_PROTOCOL is \(found), but the relay exports with http/json only")
        }
    }
}

/// The variables of OpenTelemetry's specification that the relay supports.
private struct TelemetryVariables {
    private let all: [String: String]

    init(_ all: [String: String]) {
        self.all = all
    }

    /// The value of a variable; nil for a variable that is empty or not set.
    subscript(name: String) -> String? {
        all[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the address to which spans are posted; nil without a collector.
    func address(_ endpoint: WebAddress?) throws(RelayError) -> WebAddress? {
        let ownName = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
        if let url = self[ownName] { return try WebAddress(collector: url, named: ownName) }
        let name = "OTEL_EXPORTER_OTLP_ENDPOINT"
        let base = try self[name].map { (url) throws(RelayError) in try WebAddress(collector: url, named: name) }
        return (base ?? endpoint)?.adding("v1/traces")
    }

    /// Returns the header fields for the collector; nil when no variable sets them.
    func fields() throws(RelayError) -> HTTPFields? {
        for name in ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"] {
            if let text = self[name] { return try HTTPFields(baggage: text, named: name) }
        }
        return nil
    }

    /// Returns the resource attributes, including the service name.
    func attributes(serviceName: String?, default defaultName: String) throws(RelayError) -> [Attribute] {
        let pairs = try HTTPFields.pairs(self["OTEL_RESOURCE_ATTRIBUTES"] ?? "", named: "OTEL_RESOURCE_ATTRIBUTES")
        let named = serviceName ?? pairs.last { $0.name == "service.name" }?.value ?? defaultName
        return [Attribute("service.name", named)]
            + pairs.filter { $0.name != "service.name" }.map { Attribute($0.name, $0.value) }
    }

    /// Returns the share of traces that is recorded; nil when no variable sets it.
    ///
    /// With every sampler, a trace that a caller has started is recorded if the caller's trace context says so.
    func share() throws(RelayError) -> Double? {
        let name = "OTEL_TRACES_SAMPLER"
        switch self[name] {
        case nil: return nil
        case "parentbased_always_on": return 1
        case "parentbased_always_off": return 0
        case "parentbased_traceidratio":
            guard let text = self[name + "_ARG"] else { return 1 }
            guard let share = Double(text), (0...1).contains(share) else {
                throw RelayError("\(name)_ARG must be a number from 0 to 1 (found \(ShownValue.quoted(text)))")
            }
            return share
        case let other?:
            let known = ["parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"]
            let found = ShownValue.quoted(other)
            throw RelayError("\(name) must be one of \(known.joined(separator: ", ")) (found \(found))")
        }
    }

    func milliseconds(_ name: String) throws(RelayError) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let number = Int64(text), (1...86_400_000).contains(number) else {
            throw RelayError("\(name) must be a number of milliseconds (found \(ShownValue.quoted(text)))")
        }
        return number
    }
}

extension SettingType where Value == WebAddress {
    fileprivate static let collector = SettingType("URL", schema: ["type": "string", "pattern": "^https?://"]) {
        (field, _) throws(RelayError) in
        try WebAddress(collector: try field.nonemptyText(), named: field.path.description)
    }
}

extension WebAddress {
    fileprivate init(collector url: String, named name: String) throws(RelayError) {
        guard let address = WebAddress(url) else {
            throw RelayError(
                "\(name) must be the URL of a collector without a user, as in http://127.0.0.1:4318 (found"
                    + " \(ShownValue.quoted(url)))"
            )
        }
        self = address
    }

    /// Returns the address of a path below it.
    fileprivate func adding(_ name: String) -> WebAddress {
        var address = self
        address.path += (path.hasSuffix("/") ? "" : "/") + name
        return address
    }
}

extension HTTPFields {
    /// Creates fields from `name=value,name=value`, the format of W3C Baggage, as OpenTelemetry specifies.
    fileprivate init(baggage text: String, named name: String) throws(RelayError) {
        self = [:]
        for (field, value) in try HTTPFields.pairs(text, named: name) {
            let isSound = field.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            guard isSound, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw RelayError("\(name) has a name or a value that no HTTP header may have")
            }
            append(field.lowercased(), value)
        }
    }

    /// Returns the pairs of `name=value,name=value` with percent-decoded values; its error contains none of them.
    fileprivate static func pairs(
        _ text: String,
        named name: String
    ) throws(RelayError) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isNewline }) {
            guard let mark = part.firstIndex(of: "="), mark > part.startIndex else {
                throw RelayError("\(name) must be as name=value, with commas between several")
            }
            let value = part[part.index(after: mark)...].trimming { $0.isWhitespace }
            pairs.append((String(part[..<mark].trimming { $0.isWhitespace }), String(percentEncoded: value.utf8)))
        }
        return pairs
    }
}

extension Substring {
    fileprivate func trimming(while isUnwanted: (Character) -> Bool) -> Substring {
        let end = lastIndex { !isUnwanted($0) }.map(index(after:)) ?? startIndex
        return self[..<end].drop(while: isUnwanted)
    }
}
