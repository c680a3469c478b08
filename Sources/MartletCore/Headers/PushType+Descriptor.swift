extension PushType {
    /// The facts that Apple documents about a push type.
    public struct Descriptor: Sendable, Hashable {
        /// The part of a payload in which the device looks for the content of a push.
        public enum ContentPlace: Sendable, Hashable {
            /// Apple's keys in `aps`; an empty payload is allowed.
            case aps
            /// Apple's keys in `aps`, without which the push has no effect.
            case requiredAPS
            /// Keys beside `aps`, which the app and its server define.
            case besideAPS
        }

        /// The push type.
        public let type: PushType
        /// The suffix that the topic has after the bundle identifier; empty for none.
        public let topicSuffix: String
        /// Whether a bundle identifier may end with the suffix by chance, because the suffix is a common word.
        public let isSuffixAmbiguous: Bool
        /// The maximum number of bytes in the payload.
        public let payloadByteLimit: Int
        /// The priorities that a push of this type may have.
        public let allowedPriorities: [Priority]
        /// The expiration that typed notifications have unless another is given; nil for the default of APNs.
        public let defaultExpiration: Expiration?
        /// The keys of `aps` that only pushes of this type, or of types with the same keys, have.
        public let identifyingKeys: [String]
        /// The part of the payload that carries the content.
        public let contentPlace: ContentPlace

        /// Creates the descriptor of a type; the defaults are those of most types.
        init(
            _ type: PushType,
            topicSuffix: String,
            isSuffixAmbiguous: Bool = false,
            payloadByteLimit: Int = PushLimits.payloadByteCount,
            allowedPriorities: [Priority] = Priority.all,
            defaultExpiration: Expiration? = nil,
            identifyingKeys: [String] = [],
            content contentPlace: ContentPlace
        ) {
            self.type = type
            self.topicSuffix = topicSuffix
            self.isSuffixAmbiguous = isSuffixAmbiguous
            self.payloadByteLimit = payloadByteLimit
            self.allowedPriorities = allowedPriorities
            self.defaultExpiration = defaultExpiration
            self.identifyingKeys = identifyingKeys
            self.contentPlace = contentPlace
        }
    }
}
