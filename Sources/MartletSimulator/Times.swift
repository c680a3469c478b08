// SPDX-License-Identifier: Apache-2.0

// The simulator has times in milliseconds since 1970. Headers, payloads, provider tokens and its JSON have seconds.
extension Int64 {
    /// Converts a number of seconds to milliseconds, limited to the range of `Int64`.
    init(millisecondsOf seconds: Int64) {
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000)
        self = overflows ? (seconds < 0 ? .min : .max) : product
    }
}
