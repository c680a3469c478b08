/// What a person reads: title, subtitle and body, each as text or as a key into the app's own strings.
///
/// A key takes the place of its text; the arguments fill the `%@` of the localised string in order.
/// Source: "Generating a remote notification", keys of `alert`.
public struct Alert: Sendable, Hashable {
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
    /// What fills the title's placeholders (`title-loc-args`).
    public var titleLocalizationArguments: [String]?
    /// The key of the subtitle in the app's strings (`subtitle-loc-key`).
    public var subtitleLocalizationKey: String?
    /// What fills the subtitle's placeholders (`subtitle-loc-args`).
    public var subtitleLocalizationArguments: [String]?
    /// The key of the body in the app's strings (`loc-key`).
    public var localizationKey: String?
    /// What fills the body's placeholders (`loc-args`).
    public var localizationArguments: [String]?

    /// An alert from its parts, none of which is needed.
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

extension Alert: ExpressibleByStringInterpolation {
    /// An alert of a body only.
    public init(stringLiteral value: String) {
        self.init(body: value)
    }
}
