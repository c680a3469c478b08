// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An error for a stored state that cannot be read.
struct UnreadableSessionState: Error, Sendable, Hashable {}

extension SurfaceSessionState {
    /// Reads a stored state; without bytes, it is that before the first step.
    init(stored: [UInt8]) throws(UnreadableSessionState) {
        guard !stored.isEmpty else {
            self.init()
            return
        }
        guard let state = try? JSONDecoder().decode(SurfaceSessionState.self, from: Data(stored)) else {
            throw UnreadableSessionState()
        }
        self = state
    }

    /// The state as JSON.
    var stored: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding fails only for numbers with a fraction, of which the state has none.
        return (try? encoder.encode(self)).map { Array($0) } ?? []
    }
}
