// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// A media file that the app's service extension attaches to a notification before it is shown.
///
/// Source: "UNNotificationAttachment".
public struct SurfaceAttachment: Sendable, Hashable, Codable {
    /// The identifier, unique in the notification.
    public var id: String
    /// The place of the file: an `https` URL, or `appgroup:///` followed by a path in the container of the app group.
    public var url: String
    /// The type of the file, which the service extension passes as the type hint.
    public var type: NotificationAttachmentType
    /// The size of the file in bytes, if known; a file that is too large is not fetched.
    public var byteCount: Int?
    /// The appearance of the thumbnail; nil for the system's.
    public var thumbnail: Thumbnail?

    /// The appearance of the thumbnail of an attachment.
    public struct Thumbnail: Sendable, Hashable, Codable {
        /// Whether the thumbnail is hidden.
        public var isHidden: Bool?
        /// The part of an image or movie that is shown.
        public var clip: Clip?
        /// The time in a movie in seconds, or the number of a frame of an animated image.
        public var time: Double?

        /// Creates an appearance.
        public init(isHidden: Bool? = nil, clip: Clip? = nil, time: Double? = nil) {
            self.isHidden = isHidden
            self.clip = clip
            self.time = time
        }

        private enum CodingKeys: String, CodingKey {
            case isHidden = "hidden"
            case clip, time
        }
    }

    /// A part of an image; each value is a fraction of the image's width or height, from 0 to 1.
    public struct Clip: Sendable, Hashable, Codable {
        /// The distance from the left edge.
        public var x: Double
        /// The distance from the top edge.
        public var y: Double
        /// The width.
        public var width: Double
        /// The height.
        public var height: Double

        /// Creates a part of an image.
        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    /// Creates an attachment; only ``SurfaceSnapshot/validated(categories:)`` validates it.
    public init(
        id: String,
        url: String,
        type: NotificationAttachmentType,
        byteCount: Int? = nil,
        thumbnail: Thumbnail? = nil
    ) {
        self.id = id
        self.url = url
        self.type = type
        self.byteCount = byteCount
        self.thumbnail = thumbnail
    }

    /// The path of the file in the container of the app group; nil for a file on a server.
    public var appGroupPath: String? {
        url.hasPrefix("appgroup:///") ? String(url.dropFirst("appgroup:///".count)) : nil
    }

    /// The attachment as JSON, with members in the order of the contract, without absent ones.
    public var json: JSONValue {
        .object(of: ["id": id, "url": url, "type": type.rawValue, "byteCount": byteCount, "thumbnail": thumbnail?.json])
    }
}

extension SurfaceAttachment {
    /// Reads the fields of an attachment, and the rules between them.
    init(reading fields: inout FieldReader) {
        id = fields.required("id", .nonEmptyText)
        url = fields.required("url", .attachmentURL)
        let name = fields.required("type", .choice(of: NotificationAttachmentType.supported.map(\.rawValue)))
        type = NotificationAttachmentType(rawValue: name)
        byteCount = fields.optional("byteCount", .count)
        thumbnail = fields.optionalObject("thumbnail", Thumbnail.init(reading:))
        guard let kind = type.kind else { return }
        if let byteCount, byteCount > kind.maximumByteCount {
            let message = "is \(byteCount); the maximum for the kind \(kind.rawValue) is \(kind.maximumByteCount)"
            fields.report(.tooBig, "byteCount", message)
        }
        guard let thumbnail else { return }
        if kind == .audio { fields.report(.invalidValue, "thumbnail", "must be absent: audio has no thumbnail") }
        if thumbnail.time != nil, kind != .movie, type != .gif {
            fields.report(.invalidValue, "thumbnail", "must have no time: only movies and animated images have frames")
        }
    }
}

extension SurfaceAttachment.Thumbnail {
    fileprivate init(reading fields: inout FieldReader) {
        isHidden = fields.optional("hidden", .flag)
        clip = fields.optionalObject("clip", SurfaceAttachment.Clip.init(reading:))
        time = fields.optional("time", .nonNegative)
    }

    fileprivate var json: JSONValue { .object(of: ["hidden": isHidden, "clip": clip?.json, "time": time]) }
}

extension SurfaceAttachment.Clip {
    fileprivate init(reading fields: inout FieldReader) {
        x = fields.required("x", .fraction)
        y = fields.required("y", .fraction)
        width = fields.required("width", .fraction)
        height = fields.required("height", .fraction)
        guard x + width > 1 || y + height > 1 else { return }
        fields.report(.tooBig, nil, "must lie within the image: x + width and y + height are at most 1")
    }

    fileprivate var json: JSONValue { .object(of: ["x": x, "y": y, "width": width, "height": height]) }
}

extension Rule where Value == String {
    /// The URL of an attachment.
    fileprivate static let attachmentURL = formatted(
        pattern: #"^(?!.*\/\.\.(?:\/|$))(?:https:\/\/[^\/?#\s]|appgroup:\/\/\/[^\/\s])\S*$"#,
        "an https URL, or appgroup:/// and a path in the app group, without .. and spaces"
    ) { text in
        guard let prefix = ["https://", "appgroup:///"].first(where: text.hasPrefix) else { return false }
        let place = text.dropFirst(prefix.count)
        guard let first = place.first, first != "/", prefix != "https://" || !"?#".contains(first) else { return false }
        let hasSpace = text.unicodeScalars.contains { $0.properties.isWhitespace }
        return !hasSpace && !text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().contains("..")
    }
}

extension Rule where Value == Double {
    /// A number that is not negative.
    fileprivate static let nonNegative = Rule(standIn: 0, schema: ["type": "number", "minimum": 0]) { value in
        guard case .number(let number) = value, number.doubleValue.isFinite else {
            return .problem(.invalidType, value.mismatch("a number"))
        }
        if number.doubleValue < 0 { return .problem(.tooSmall, "is \(number.text); the minimum is 0") }
        return .value(number.doubleValue)
    }
}
