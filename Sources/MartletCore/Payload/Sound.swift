// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The sound of a notification.
    ///
    /// Source: "Generating a remote notification", keys of `sound`.
    public enum Sound: Sendable, Hashable, Codable, ExpressibleByStringLiteral {
        /// The system's default sound.
        case `default`
        /// A file in the app's bundle or its `Library/Sounds`.
        case named(String)
        /// A sound that the mute switch does not silence, for an app with Apple's approval; the volume is from 0 to 1.
        case critical(name: String = "default", volume: Double = 1)

        /// The volume of a critical sound; nil for other sounds.
        var volume: Double? {
            if case .critical(_, let volume) = self { volume } else { nil }
        }

        private enum CodingKeys: CodingKey {
            case critical, name, volume
        }

        /// Creates a sound from the name of a file; `"default"` is the system's default sound.
        public init(stringLiteral value: String) {
            self = value == "default" ? .default : .named(value)
        }

        /// Decodes the value of `sound` in a payload: a name, or an object for a critical sound.
        public init(from decoder: any Decoder) throws {
            if let name = try? decoder.singleValueContainer().decode(String.self) {
                self.init(stringLiteral: name)
                return
            }
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let name = try values.decodeIfPresent(String.self, forKey: .name) ?? "default"
            guard try values.decodeIfPresent(Int.self, forKey: .critical) == 1 else {
                self.init(stringLiteral: name)
                return
            }
            self = .critical(name: name, volume: try values.decodeIfPresent(Double.self, forKey: .volume) ?? 1)
        }

        /// Encodes the value of `sound` in a payload.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .default, .named:
                var container = encoder.singleValueContainer()
                try container.encode(name)
            case .critical(let name, let volume):
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(1, forKey: .critical)
                try values.encode(name, forKey: .name)
                try values.encode(volume, forKey: .volume)
            }
        }

        /// The name as it is sent.
        private var name: String {
            switch self {
            case .default: "default"
            case .named(let name), .critical(let name, _): name
            }
        }

        func write(into object: inout JSONObjectWriter) throws(PayloadError) {
            switch self {
            case .default, .named: object.write("sound", name)
            case .critical(let name, let volume):
                try object.write("sound") { (sound) throws(PayloadError) in
                    sound.write("critical", 1)
                    sound.write("name", name)
                    try sound.write("volume", volume)
                }
            }
        }
    }
}
