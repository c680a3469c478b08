// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// The text of a notification: title, subtitle and body, each as text or as the key of a string in the app.
    ///
    /// A key replaces its text; the arguments fill the `%@` of the localized string in order.
    /// It is encoded with Apple's keys. Source: "Generating a remote notification", keys of `alert`.
    public struct Alert: Sendable, Hashable, Codable {
        /// The first line.
        public var title: String?
        /// The line below the title.
        public var subtitle: String?
        /// The message.
        public var body: String?
        /// The image or storyboard shown while the app launches (`launch-image`).
        public var launchImage: String?
        /// The key of the title in the app's strings (`title-loc-key`).
        public var titleLocalizationKey: String?
        /// The arguments for the title's placeholders (`title-loc-args`).
        public var titleLocalizationArguments: [String]?
        /// The key of the subtitle in the app's strings (`subtitle-loc-key`).
        public var subtitleLocalizationKey: String?
        /// The arguments for the subtitle's placeholders (`subtitle-loc-args`).
        public var subtitleLocalizationArguments: [String]?
        /// The key of the body in the app's strings (`loc-key`).
        public var localizationKey: String?
        /// The arguments for the body's placeholders (`loc-args`).
        public var localizationArguments: [String]?

        /// Creates an alert from its parts, all of which are optional.
        public init(
            title: String? = nil,
            subtitle: String? = nil,
            body: String? = nil,
            launchImage: String? = nil,
            titleLocalizationKey: String? = nil,
            titleLocalizationArguments: [String]? = nil,
            subtitleLocalizationKey: String? = nil,
            subtitleLocalizationArguments: [String]? = nil,
            localizationKey: String? = nil,
            localizationArguments: [String]? = nil
        ) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
            self.launchImage = launchImage
            self.titleLocalizationKey = titleLocalizationKey
            self.titleLocalizationArguments = titleLocalizationArguments
            self.subtitleLocalizationKey = subtitleLocalizationKey
            self.subtitleLocalizationArguments = subtitleLocalizationArguments
            self.localizationKey = localizationKey
            self.localizationArguments = localizationArguments
        }

        private enum CodingKeys: String, CodingKey {
            case title, subtitle, body
            case launchImage = "launch-image"
            case titleLocalizationKey = "title-loc-key"
            case titleLocalizationArguments = "title-loc-args"
            case subtitleLocalizationKey = "subtitle-loc-key"
            case subtitleLocalizationArguments = "subtitle-loc-args"
            case localizationKey = "loc-key"
            case localizationArguments = "loc-args"
        }

        func write(into object: inout JSONObjectWriter) {
            object.write("title", title)
            object.write("subtitle", subtitle)
            object.write("body", body)
            object.write("launch-image", launchImage)
            object.write("title-loc-key", titleLocalizationKey)
            object.write("title-loc-args", titleLocalizationArguments)
            object.write("subtitle-loc-key", subtitleLocalizationKey)
            object.write("subtitle-loc-args", subtitleLocalizationArguments)
            object.write("loc-key", localizationKey)
            object.write("loc-args", localizationArguments)
        }
    }
}

extension PushNotification.Alert: ExpressibleByStringInterpolation {
    /// Creates an alert that has only a body.
    public init(stringLiteral value: String) {
        self.init(body: value)
    }
}
