// SPDX-License-Identifier: Apache-2.0

internal import CMartletZlib

/// The zlib library that this process uses.
package enum ZlibLibrary {
    /// The version, such as `1.2.13`.
    package static var version: String { zlibVersion().map { String(cString: $0) } ?? "unknown" }
}
