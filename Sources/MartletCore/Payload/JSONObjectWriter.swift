// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A writer that appends the members of a JSON object directly to the bytes of the payload; nil values are left out.
struct JSONObjectWriter {
    private var bytes: [UInt8] = []
    /// Whether the object that is being written has no member yet.
    private var isEmpty = true

    /// Begins an object and reserves this many bytes.
    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes.append(UInt8(ascii: "{"))
    }

    /// Ends the object and returns its bytes.
    mutating func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    mutating func write(_ name: String, _ value: String?) {
        guard let value else { return }
        write(name)
        bytes.appendJSON(value)
    }

    mutating func write(_ name: String, _ value: Int?) {
        guard let value else { return }
        write(name)
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes a date as whole seconds since 1970.
    mutating func write(_ name: String, _ value: Date?) throws(PayloadError) {
        guard let value else { return }
        let seconds = try PayloadDate.seconds(value, for: name)
        write(name)
        bytes.append(contentsOf: String(seconds).utf8)
    }

    mutating func write(_ name: String, _ value: Double?) throws(PayloadError) {
        guard let value else { return }
        guard let number = JSONNumber(value) else { throw .notFinite(key: name) }
        write(name)
        bytes.append(contentsOf: number.text.utf8)
    }

    mutating func write(_ name: String, _ value: [String]?) {
        guard let value else { return }
        write(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in value.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.appendJSON(text)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a value that is already JSON.
    mutating func write(_ name: String, json: [UInt8]?) {
        guard let json else { return }
        write(name)
        bytes.append(contentsOf: json)
    }

    mutating func write<Failure: Error>(
        _ name: String,
        _ members: (inout JSONObjectWriter) throws(Failure) -> Void
    ) throws(Failure) {
        write(name)
        bytes.append(UInt8(ascii: "{"))
        isEmpty = true
        try members(&self)
        bytes.append(UInt8(ascii: "}"))
        isEmpty = false
    }

    /// Adds members that are already JSON, without the enclosing braces.
    mutating func splice(_ members: [UInt8]) {
        guard !members.isEmpty else { return }
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(contentsOf: members)
    }

    private mutating func write(_ name: String) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }
}
