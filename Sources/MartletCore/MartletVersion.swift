// SPDX-License-Identifier: Apache-2.0

/// The version of Martlet.
package enum MartletVersion {
    /// The current version (Semantic Versioning).
    package static let current = "0.1.0"
}
