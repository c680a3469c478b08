/// Runs tasks on an event loop, outside of every actor.
///
/// It is not the loop itself: on a serial executor each call of a function without an actor would be a change of
/// executors, through the loop's queue, though the thread stays the same.
package final class LoopTaskExecutor: TaskExecutor {
    private let loop: EventLoop

    /// An executor for tasks of this loop.
    package init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Part of `TaskExecutor`.
    package func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(UnownedJob(job), of: self)
    }
}
