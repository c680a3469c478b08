/// One action at one time on an event loop; use it only there.
package final class LoopTimer {
    let deadline: MonotonicTime
    private var action: (() -> Void)?

    init(deadline: MonotonicTime, action: @escaping () -> Void) {
        self.deadline = deadline
        self.action = action
    }

    /// Makes sure that the action does not run; does nothing when it has run.
    package func cancel() {
        action = nil
    }

    func fire() {
        action.take()?()
    }
}
