// SPDX-License-Identifier: Apache-2.0

/// An error that prevents a simulator from starting, or from doing what was requested.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String

    /// The settings of a simulator that can make listening fail.
    package enum Listener: Sendable, Hashable {
        /// The address, which does not belong to this machine.
        case host
        case pushes, channels, inbox
    }

    /// The setting that prevents the simulator from listening; nil for other errors.
    package let listener: Listener?

    init(_ description: String, listener: Listener? = nil) {
        self.description = description
        self.listener = listener
    }
}
