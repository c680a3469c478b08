// SPDX-License-Identifier: Apache-2.0

/// The type of a media file that a service extension attaches to a notification: a uniform type identifier.
///
/// Source: "UNNotificationAttachment", supported file types.
public struct NotificationAttachmentType: RawRepresentable, Sendable, Hashable, Codable {
    /// The kinds of media, of which each has a maximum size.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A sound.
        case audio
        /// An image, which may be animated.
        case image
        /// A movie.
        case movie

        /// The maximum size of a file in bytes: 5 MB of audio, 10 MB of an image, 50 MB of a movie.
        ///
        /// Apple does not say which megabyte it means; this is the smaller one, of 1,000,000 bytes.
        public var maximumByteCount: Int {
            switch self {
            case .audio: 5_000_000
            case .image: 10_000_000
            case .movie: 50_000_000
            }
        }
    }

    /// The uniform type identifier.
    public let rawValue: String

    /// Creates a type, which may be one that the system does not support.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An image in JPEG.
    public static let jpeg = NotificationAttachmentType(rawValue: "public.jpeg")
    /// An image in PNG.
    public static let png = NotificationAttachmentType(rawValue: "public.png")
    /// An image in GIF, which may be animated.
    public static let gif = NotificationAttachmentType(rawValue: "com.compuserve.gif")
    /// Audio in AIFF.
    public static let aiff = NotificationAttachmentType(rawValue: "public.aiff-audio")
    /// Audio in WAVE.
    public static let wave = NotificationAttachmentType(rawValue: "com.microsoft.waveform-audio")
    /// Audio in MP3.
    public static let mp3 = NotificationAttachmentType(rawValue: "public.mp3")
    /// Audio in MPEG-4.
    public static let mpeg4Audio = NotificationAttachmentType(rawValue: "public.mpeg-4-audio")
    /// A movie in MPEG-1.
    public static let mpeg = NotificationAttachmentType(rawValue: "public.mpeg")
    /// A movie in MPEG-2.
    public static let mpeg2 = NotificationAttachmentType(rawValue: "public.mpeg-2-video")
    /// A movie in MPEG-4.
    public static let mpeg4 = NotificationAttachmentType(rawValue: "public.mpeg-4")
    /// A movie in AVI.
    public static let avi = NotificationAttachmentType(rawValue: "public.avi")

    /// The types that the system supports.
    public static let supported: [NotificationAttachmentType] = [
        .jpeg, .png, .gif, .aiff, .wave, .mp3, .mpeg4Audio, .mpeg, .mpeg2, .mpeg4, .avi,
    ]

    /// The kind of media; nil for a type that the system does not support.
    public var kind: Kind? {
        switch self {
        case .jpeg, .png, .gif: .image
        case .aiff, .wave, .mp3, .mpeg4Audio: .audio
        case .mpeg, .mpeg2, .mpeg4, .avi: .movie
        default: nil
        }
    }

    /// The extension of a file's name, which the system uses when it has no type hint.
    public var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .gif: "gif"
        case .aiff: "aiff"
        case .wave: "wav"
        case .mp3: "mp3"
        case .mpeg4Audio: "m4a"
        case .mpeg, .mpeg2: "mpg"
        case .mpeg4: "mp4"
        case .avi: "avi"
        default: ""
        }
    }

    /// Returns whether the first bytes of a file are those of this type.
    ///
    /// - Parameter bytes: At least the first 12 bytes of the file.
    /// - Returns: Whether they begin a file of this type; false for a type that the system does not support.
    public func matches(_ bytes: some Collection<UInt8>) -> Bool {
        let start = Array(bytes.prefix(12))
        func has(_ text: String, at index: Int) -> Bool { start.dropFirst(index).starts(with: text.utf8) }
        func begins(_ signature: [UInt8]) -> Bool { start.starts(with: signature) }
        switch self {
        case .jpeg: return begins([0xFF, 0xD8, 0xFF])
        case .png: return begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        case .gif: return has("GIF87a", at: 0) || has("GIF89a", at: 0)
        case .aiff: return has("FORM", at: 0) && (has("AIFF", at: 8) || has("AIFC", at: 8))
        case .wave: return has("RIFF", at: 0) && has("WAVE", at: 8)
        // A tag, or the eleven bits with which a frame begins.
        case .mp3: return has("ID3", at: 0) || start.count > 1 && start[0] == 0xFF && start[1] & 0xE0 == 0xE0
        case .mpeg4Audio, .mpeg4: return has("ftyp", at: 4)
        // The header of a pack or of a sequence.
        case .mpeg, .mpeg2: return begins([0, 0, 1, 0xBA]) || begins([0, 0, 1, 0xB3])
        case .avi: return has("RIFF", at: 0) && has("AVI ", at: 8)
        default: return false
        }
    }
}
