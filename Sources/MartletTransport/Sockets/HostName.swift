// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

/// The name of this machine.
package enum HostName {
    /// The name, without asking a name server, as Foundation does on macOS; `localhost` if the system has none.
    package static var current: String {
        var bytes = [CChar](repeating: 0, count: Int(UV_MAXHOSTNAMESIZE))
        var count = bytes.count
        guard uv_os_gethostname(&bytes, &count) == 0, count > 0 else { return "localhost" }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
