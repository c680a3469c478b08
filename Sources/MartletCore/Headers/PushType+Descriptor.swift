// SPDX-License-Identifier: Apache-2.0

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
        public internal(set) var isSuffixAmbiguous = false
        /// The maximum number of bytes in the payload.
        public internal(set) var payloadByteLimit = PushLimits.payloadByteCount
        /// The priorities that a push of this type may have.
        public internal(set) var allowedPriorities = PushNotification.Priority.all
        /// The expiration that typed notifications have unless another is given; nil for the default of APNs.
        public internal(set) var defaultExpiration: PushNotification.Expiration?
        /// The keys of `aps` that only pushes of this type, or of types with the same keys, have.
        public internal(set) var identifyingKeys: [String] = []
        /// The part of the payload that carries the content.
        public let contentPlace: ContentPlace
    }
}
