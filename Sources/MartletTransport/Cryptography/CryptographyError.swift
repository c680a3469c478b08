// SPDX-License-Identifier: Apache-2.0

/// The reason why a key or certificate cannot be used, as a sentence without the final full stop.
package struct CryptographyError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
