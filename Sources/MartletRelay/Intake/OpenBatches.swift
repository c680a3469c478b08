// SPDX-License-Identifier: Apache-2.0

/// The number of open batches of each caller.
struct OpenBatches {
    /// The maximum number of open batches of one caller.
    static let limitPerCaller = 20

    private var counts: [String: Int] = [:]

    func count(of caller: String) -> Int { counts[caller, default: 0] }

    /// Opens a batch; returns false when the caller has too many open already.
    mutating func open(for caller: String) -> Bool {
        let count = count(of: caller)
        guard count < OpenBatches.limitPerCaller else { return false }
        counts[caller] = count + 1
        return true
    }

    mutating func close(for caller: String) {
        let rest = count(of: caller) - 1
        counts[caller] = rest > 0 ? rest : nil
    }
}

/// A batch that counts among the open ones of its caller until the object is released.
final class OpenBatch: Sendable {
    private let onClose: @Sendable () -> Void

    init(onClose: @escaping @Sendable () -> Void) {
        self.onClose = onClose
    }

    deinit {
        onClose()
    }
}
