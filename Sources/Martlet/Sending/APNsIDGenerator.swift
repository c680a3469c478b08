// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import Synchronization

/// A generator of the `apns-id` of each push, a random UUID, without a lock or a system call.
///
/// Two independent sequences (SplitMix64) with random seeds produce the two halves: identifiers need to be unique
/// across processes, but not secret.
final class APNsIDGenerator: Sendable {
    /// The odd constant whose multiples visit every 64-bit number.
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private let firstSeed = UInt64.random(in: .min ... .max)
    private let secondSeed = UInt64.random(in: .min ... .max)
    private let counter = Atomic<UInt64>(0)

    func next() -> APNsID {
        let offset = counter.wrappingAdd(1, ordering: .relaxed).newValue &* APNsIDGenerator.step
        return APNsID(randomBits: (APNsIDGenerator.mix(firstSeed &+ offset), APNsIDGenerator.mix(secondSeed &+ offset)))
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
