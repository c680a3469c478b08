// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The sound of a notification.
    ///
    /// Source: "Generating a remote notification", keys of `sound`.
    public enum Sound: Sendable, Hashable {
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

        func write(into object: inout JSONObjectWriter) throws(PayloadError) {
            switch self {
            case .default: object.write("sound", "default")
            case .named(let name): object.write("sound", name)
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
