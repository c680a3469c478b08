// SPDX-License-Identifier: Apache-2.0

/// The version of Martlet.
public enum MartletVersion {
    /// The current version (Semantic Versioning).
    public static let current = "0.2.0"
}
