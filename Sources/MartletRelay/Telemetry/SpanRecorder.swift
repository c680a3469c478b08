// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletTransport
internal import Synchronization

/// The recorder of the spans of a relay, which the exporter reads on a thread of its own.
final class SpanRecorder: Sendable {
    private let tracer: Mutex<PushTracer>
    private let clock: WallClock

    /// Creates a recorder that samples a fraction of the traces that begin in the relay.
    init(share: Double, clock: WallClock) {
        tracer = Mutex(PushTracer(share: share, seed: .random(in: .min ... .max)))
        self.clock = clock
    }

    /// Calls a body with the tracer and the time in microseconds since 1970.
    func record<Result>(_ body: (inout PushTracer, _ time: Int64) -> Result) -> Result {
        let time = clock.microsecondsSince1970()
        return tracer.withLock { tracer in body(&tracer, time) }
    }
}
