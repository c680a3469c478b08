// SPDX-License-Identifier: Apache-2.0

/// The alert shown when a Live Activity starts, changes or ends.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityAlert: Sendable, Hashable, Codable {
    /// A text, or the key of a string in the app.
    public enum Text: Sendable, Hashable, Codable, ExpressibleByStringInterpolation {
        /// The text as it is shown.
        case plain(String)
        /// The key of a string in the app, with the arguments that replace each `%@` in it.
        case localized(key: String, arguments: [String] = [])

        /// Creates a text that is shown as it is.
        public init(stringLiteral value: String) {
            self = .plain(value)
        }

        private enum CodingKeys: String, CodingKey {
            case key = "loc-key"
            case arguments = "loc-args"
        }

        /// Decodes a text as it is in a payload: a string, or an object with `loc-key` and `loc-args`.
        public init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self = .plain(text)
                return
            }
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let arguments = try values.decodeIfPresent([String].self, forKey: .arguments)
            self = .localized(key: try values.decode(String.self, forKey: .key), arguments: arguments ?? [])
        }

        /// Encodes a text as it is in a payload.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .plain(let text):
                var container = encoder.singleValueContainer()
                try container.encode(text)
            case .localized(let key, let arguments):
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(key, forKey: .key)
                try values.encode(arguments, forKey: .arguments)
            }
        }
    }

    /// The first line.
    public var title: Text
    /// The text below the title.
    public var body: Text
    /// The sound; nil for none.
    public var sound: PushNotification.Sound?

    /// Creates an alert.
    ///
    /// - Parameters:
    ///   - title: The first line.
    ///   - body: The text below the title.
    ///   - sound: The sound; the system's default sound by default.
    public init(title: Text, body: Text, sound: PushNotification.Sound? = .default) {
        self.title = title
        self.body = body
        self.sound = sound
    }

    func write(into object: inout JSONObjectWriter) throws(PayloadError) {
        LiveActivityAlert.write("title", title, into: &object)
        LiveActivityAlert.write("body", body, into: &object)
        try sound?.write(into: &object)
    }

    private static func write(_ name: String, _ text: Text, into object: inout JSONObjectWriter) {
        switch text {
        case .plain(let text):
            object.write(name, text)
        case .localized(let key, let arguments):
            object.write(name) { inner in
                inner.write("loc-key", key)
                inner.write("loc-args", arguments.isEmpty ? nil : arguments)
            }
        }
    }
}
