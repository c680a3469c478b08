// SPDX-License-Identifier: Apache-2.0

/// The alert shown when a Live Activity starts, changes or ends.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityAlert: Sendable, Hashable {
    /// A text, or the key of a string in the app.
    public enum Text: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// The text as it is shown.
        case plain(String)
        /// The key of a string in the app, with the arguments that replace each `%@` in it.
        case localized(key: String, arguments: [String] = [])

        /// Creates a text that is shown as it is.
        public init(stringLiteral value: String) {
            self = .plain(value)
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
