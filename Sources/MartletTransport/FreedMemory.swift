// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

/// The memory of the process that it has freed, and that the C library keeps for later.
package enum FreedMemory {
    /// The resident memory of the process in bytes; 0 where the system does not report it.
    package static var residentBytes: Int {
        var bytes = 0
        return uv_resident_set_memory(&bytes) == 0 ? bytes : 0
    }

    /// Returns freed memory to the system; does nothing on systems whose C library has no function for it.
    package static func returnToSystem() {
        #if canImport(Glibc)
            malloc_trim(0)
        #endif
    }
}
