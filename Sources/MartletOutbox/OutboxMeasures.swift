// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The measurements of a store since it was opened.
package struct OutboxMeasures: Sendable, Hashable {
    /// The duration of commits, including the wait for the disk.
    package var commitTimes = Histogram.times
    /// The number of pushes that were accepted or settled in one commit.
    package var commitSizes = Histogram(bounds: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500])

    /// The number of pushes that an earlier process may have sent before it ended without closing a file in order.
    ///
    /// It is 0 for a shared store, in which it is not known whose pushes these are.
    package var possiblySent = 0

    /// Creates empty measurements.
    package init() {}
}
