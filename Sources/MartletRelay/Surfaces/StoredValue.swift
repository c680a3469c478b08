// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// An error for a stored state that cannot be read.
struct UnreadableSessionState: Error, Sendable, Hashable {}

/// A value of the state of a session with its stored form in JSON.
///
/// An object has no members that are nil or have their default, because there is a state for each phone and surface.
/// Unknown members are ignored, so that states of other versions can be read.
protocol StoredValue: Hashable {
    init(stored json: JSONValue) throws(UnreadableSessionState)

    var stored: JSONValue { get }
}

extension StoredValue {
    /// Returns the stored form; nil for the default.
    func stored(unless missing: Self) -> JSONValue? { self == missing ? nil : stored }
}

extension JSONValue {
    /// Returns a member; nil if it is missing.
    func optional<Value: StoredValue>(_ name: String) throws(UnreadableSessionState) -> Value? {
        guard case .object = self else { throw UnreadableSessionState() }
        guard let member = self[name] else { return nil }
        return try Value(stored: member)
    }

    /// Returns a member that must be present.
    func required<Value: StoredValue>(_ name: String) throws(UnreadableSessionState) -> Value {
        try optional(name).readable()
    }
}

extension Optional {
    /// Returns the value; the error is that there is none.
    func readable() throws(UnreadableSessionState) -> Wrapped {
        guard let self else { throw UnreadableSessionState() }
        return self
    }
}

// MARK: Simple values

extension StoredValue where Self: FixedWidthInteger {
    /// Reads an integer, within bounds that no time or revision exceeds, so that a step after damage cannot overflow.
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        self = try json.integerValue.flatMap { $0.magnitude <= 1 << 50 ? Self(exactly: $0) : nil }.readable()
    }

    var stored: JSONValue { .integer(self) }
}

extension Int: StoredValue {}
extension Int64: StoredValue {}

extension Bool: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        guard case .bool(let flag) = json else { throw UnreadableSessionState() }
        self = flag
    }

    var stored: JSONValue { .bool(self) }
}

extension String: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) { self = try json.stringValue.readable() }

    var stored: JSONValue { .string(self) }
}

extension StoredValue where Self: RawRepresentable<String> {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        self = try json.stringValue.flatMap { Self(rawValue: $0) }.readable()
    }

    var stored: JSONValue { .string(rawValue) }
}

extension ActivitySession.Absence: StoredValue {}
extension ChannelID: StoredValue {}
extension PushEnvironment: StoredValue {}
extension SurfaceKind: StoredValue {}

extension APNsID: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        self = try json.stringValue.flatMap { try? APNsID($0) }.readable()
    }

    var stored: JSONValue { .string(description) }
}

extension DeviceToken: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        self = try json.stringValue.flatMap { try? DeviceToken(hex: $0) }.readable()
    }

    var stored: JSONValue { .string(hex) }
}

extension Array: StoredValue where Element: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        let elements = try json.elements.readable()
        self = try elements.map { (element) throws(UnreadableSessionState) in try Element(stored: element) }
    }

    var stored: JSONValue { .array(map(\.stored)) }
}

extension Dictionary: StoredValue where Key == String, Value: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        self.init()
        for member in try json.members.readable() { self[member.name] = try Value(stored: member.value) }
    }

    var stored: JSONValue {
        .object(sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value.stored) })
    }
}
