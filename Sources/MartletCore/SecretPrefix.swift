// SPDX-License-Identifier: Apache-2.0

/// The prefixes by which people and scanners recognize the secrets that a relay issues or reads.
package enum SecretPrefix: String, Sendable, CaseIterable {
    /// An API key of a caller.
    case callerKey = "mrt_"
    /// A ticket for an app to enroll.
    case ticket = "mtk_"
    /// The secret of an installation.
    case installation = "mri_"
    /// The secret that signs the reports to a webhook.
    case webhook = "whsec_"
}
