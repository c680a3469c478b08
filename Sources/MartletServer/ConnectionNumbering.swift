// SPDX-License-Identifier: Apache-2.0

/// The source of connection numbers; used only on the loop of the listeners that share it.
package final class ConnectionNumbering {
    private var last = 0

    /// Creates a source that starts at 1.
    package init() {}

    /// Returns the next number.
    func next() -> Int {
        last += 1
        return last
    }
}
