// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv
internal import CMartletNghttp2
internal import CMartletOpenSSL

/// The versions of the C libraries that this process uses.
package struct LibraryVersions: Sendable {
    package let libuv = LibraryVersions.text(uv_version_string())
    package let nghttp2 = LibraryVersions.text(nghttp2_version(0)?.pointee.version_str)
    package let openssl = LibraryVersions.text(OpenSSL_version(OPENSSL_VERSION_STRING))

    package init() {}

    private static func text(_ version: UnsafePointer<CChar>?) -> String {
        version.map { String(cString: $0) } ?? "unknown"
    }
}
