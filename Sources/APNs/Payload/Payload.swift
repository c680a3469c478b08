/// What a push carries: Apple's part and the app's own, or bytes that are nobody's business on the way.
public struct Payload: Sendable, Hashable {
    /// Kept behind one reference, so that a notification on its way is not copied piece by piece.
    private indirect enum Content: Sendable, Hashable {
        case typed(APS, CustomData?)
        case opaque([UInt8])
    }

    private let content: Content

    /// Apple's part with the app's own beside it.
    public init(_ aps: APS, custom: CustomData? = nil) {
        content = .typed(aps, custom)
    }

    /// Bytes that are sent as they are.
    public init(opaque bytes: [UInt8]) {
        content = .opaque(bytes)
    }

    /// Apple's part; nil when the payload is opaque.
    public var aps: APS? {
        if case .typed(let aps, _) = content { aps } else { nil }
    }

    /// The payload as it travels: compact JSON in UTF-8 with the keys in the order of Apple's tables.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``PayloadError/notFinite(key:)`` for a number that JSON cannot write.
    public func encoded() throws(PayloadError) -> [UInt8] {
        switch content {
        case .opaque(let bytes):
            return bytes
        case .typed(let aps, let custom):
            var bytes: [UInt8] = []
            bytes.reserveCapacity(512 + (custom?.members.count ?? 0))
            var object = JSONObjectWriter(after: bytes)
            try object.write("aps") { (object) throws(PayloadError) in try aps.write(into: &object) }
            if let custom { object.splice(custom.members) }
            return object.finish()
        }
    }
}

/// Why a payload cannot be made.
public enum PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number at this key is infinite or none, which JSON cannot write.
    case notFinite(key: String)
    /// The custom data does not encode.
    case notEncodable(String)
    /// The custom data is no JSON.
    case notJSON(JSONError)
    /// The custom data is JSON, but no object.
    case notAnObject
    /// The custom data has a key `aps`, which is Apple's.
    case reservedKey

    /// The rule that is broken, in a sentence without the final stop.
    public var description: String {
        switch self {
        case .notFinite(let key): "the value of \(key) is not a finite number"
        case .notEncodable(let why): "the custom data cannot be encoded: \(why)"
        case .notJSON(let error): "the custom data is no JSON: \(error)"
        case .notAnObject: "the custom data has to encode to a JSON object, whose members stand beside aps"
        case .reservedKey: "the custom data has a key aps, which belongs to Apple's part of the payload"
        }
    }
}
