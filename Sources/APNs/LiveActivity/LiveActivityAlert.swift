/// What a person reads and hears when a Live Activity starts, changes or ends.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityAlert: Sendable, Hashable {
    /// A text, or the name of one in the app's own strings.
    public enum Text: Sendable, Hashable, ExpressibleByStringInterpolation {
        /// The text as it is shown.
        case plain(String)
        /// The key of a string in the app, with what takes the place of each `%@` in it.
        case localized(key: String, arguments: [String] = [])

        /// A text as it is shown.
        public init(stringLiteral value: String) {
            self = .plain(value)
        }
    }

    /// The first line.
    public var title: Text
    /// What stands below it.
    public var body: Text
    /// The sound; nil for none.
    public var sound: Sound?

    /// An alert from its parts.
    ///
    /// - Parameters:
    ///   - title: The first line.
    ///   - body: What stands below it.
    ///   - sound: The sound; the system's own by default.
    public init(title: Text, body: Text, sound: Sound? = .default) {
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
