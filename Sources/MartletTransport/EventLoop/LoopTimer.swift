// SPDX-License-Identifier: Apache-2.0

/// An action that an event loop runs once at a deadline; use it only on that loop.
package final class LoopTimer {
    let deadline: MonotonicTime
    private var action: (() -> Void)?

    init(deadline: MonotonicTime, action: @escaping () -> Void) {
        self.deadline = deadline
        self.action = action
    }

    /// Prevents the action from running; has no effect when it has run.
    package func cancel() {
        action = nil
    }

    func fire() {
        action.take()?()
    }
}
