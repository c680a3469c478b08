// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The reason for the refusal of a request about tickets, installations or users.
struct InstallationError: Error, JSONFieldError, Hashable {
    /// The kinds of reason.
    enum Kind: Sendable {
        /// A value breaks a rule.
        case invalidValue
        /// The ticket or the secret is not valid.
        case invalidCredential
        /// The phone or the back end sends too many requests.
        case tooManyRequests
        /// The relay or its store cannot perform the request at the moment.
        case unavailable
    }

    let kind: Kind
    /// The value and the rule, or another reason, as a sentence without the final full stop.
    let message: String
    /// The place of the value in the body, as a JSON Pointer (RFC 6901); nil when it is not in the body.
    let pointer: String?
    /// The delay in seconds before a retry; nil when a retry would not help.
    let retryAfter: Int?
    /// Whether the change that failed may have been made.
    let isOutcomeUnknown: Bool

    /// Creates an error from its parts.
    init(
        _ kind: Kind,
        _ message: String,
        at pointer: String? = nil,
        retryAfter: Int? = nil,
        isOutcomeUnknown: Bool = false
    ) {
        self.kind = kind
        self.message = message
        self.pointer = pointer
        self.retryAfter = retryAfter
        self.isOutcomeUnknown = isOutcomeUnknown
    }

    /// Creates the error of a value in the body.
    init(_ message: String, at path: JSONPath) {
        self.init(.invalidValue, message, at: path.pointer)
    }
}
