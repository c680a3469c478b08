// SPDX-License-Identifier: Apache-2.0

/// An executor that runs tasks on an event loop, outside of every actor.
///
/// It is separate from the loop because, on a serial executor, each call of a nonisolated function would switch
/// executors through the loop's queue although the thread stays the same.
package final class LoopTaskExecutor: TaskExecutor {
    private let loop: EventLoop

    package init(_ loop: EventLoop) {
        self.loop = loop
    }

    /// Queues a job; required by `TaskExecutor`.
    package func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(UnownedJob(job), of: self)
    }
}
