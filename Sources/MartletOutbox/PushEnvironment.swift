// SPDX-License-Identifier: Apache-2.0

/// One of Apple's two environments.
package enum PushEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
    case production
    case development
}
