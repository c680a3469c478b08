// SPDX-License-Identifier: Apache-2.0

extension Duration {
    /// The number of doublings after which a delay grows no further, so that its computation cannot overflow.
    private static let doublingLimit = 20

    /// Returns this delay, doubled for each earlier attempt, up to a maximum.
    func doubled(_ count: Int, upTo maximum: Duration) -> Duration {
        min(self * (1 << min(max(0, count), Duration.doublingLimit)), maximum)
    }
}
