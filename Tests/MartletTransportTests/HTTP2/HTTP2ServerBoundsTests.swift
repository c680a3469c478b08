// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTP2ServerBoundsTests {
    private var bounds = HTTP2ServerBounds()

    /// Opens the stream of a request.
    private mutating func open(_ id: Int32) -> HTTP2Stream {
        let stream = HTTP2Stream()
        stream.id = id
        bounds.opened(stream)
        return stream
    }

    @Test mutating func `HEADERS on a closed stream are valid if its request was incomplete`() {
        let (opens, opensAgain) = (bounds.permitsHeaders(on: 1), bounds.permitsHeaders(on: 1))
        #expect(opens && !opensAgain)
        let complete = open(1)
        complete.isMessageComplete = true
        bounds.closed(complete)
        bounds.closed(open(3))
        let opensLater = bounds.permitsHeaders(on: 5)
        let (ofComplete, ofIncomplete) = (bounds.permitsHeaders(on: 1), bounds.permitsHeaders(on: 3))
        #expect(opensLater && !ofComplete && ofIncomplete)
        // Only the last of these streams are remembered.
        for index in 0..<100 as Range<Int32> { bounds.closed(open(2 * index + 7)) }
        let ofForgotten = bounds.permitsHeaders(on: 3)
        #expect(!ofForgotten)
    }

    @Test mutating func `a header block of more than twice the limit is not admitted`() {
        let admitted = [bounds.admitsField(octets: 68, limit: 100), bounds.admitsField(octets: 68, limit: 100)]
        let isRejected = !bounds.admitsField(octets: 0, limit: 100)
        #expect(admitted == [true, true] && isRejected)
        bounds.beganBlock()
        let isAdmitted = bounds.admitsField(octets: 168, limit: 100)
        #expect(isAdmitted)
    }

    @Test mutating func `streams are refused over the limit and while answers wait`() {
        let limit = Int(bounds.streamLimit.current)
        let (last, surplus) = (bounds.admitsStream(1, openCount: limit - 1), bounds.admitsStream(3, openCount: limit))
        #expect(last && !surplus && bounds.refusedStreamCount == 1)
        let answered = open(1)
        bounds.answered(answered, bodyBytes: HTTP2ServerBounds.answerBytesLimit + 1)
        let whilePending = bounds.admitsStream(5, openCount: 1)
        #expect(!whilePending && bounds.refusedStreamCount == 2)
        bounds.closed(answered)
        let afterwards = bounds.admitsStream(7, openCount: 0)
        #expect(afterwards && bounds.refusedStreamCount == 2)
    }

    @Test mutating func `a stream counts while its client has to act`() {
        let (first, second) = (open(1), open(3))
        let empty = bounds.heldBytes
        bounds.count(1_000, of: first)
        bounds.count(500, of: second)
        #expect(bounds.heldBytes == empty + 1_500)
        bounds.completed(first)
        #expect(bounds.heldBytes == empty / 2 + 500)
        bounds.answered(first, bodyBytes: 100)
        #expect(bounds.heldBytes == empty + 600)
        bounds.closed(first)
        bounds.closed(second)
        #expect(bounds.heldBytes == 0)
    }

    @Test mutating func `a response counts after the end of a body that is too long`() {
        let stream = open(1)
        bounds.count(1_000, of: stream)
        bounds.answered(stream, bodyBytes: 100)
        stream.outgoingFields = [":status": "413"]
        let held = bounds.heldBytes
        bounds.completed(stream)
        #expect(bounds.heldBytes == held)
        bounds.closed(stream)
        #expect(bounds.heldBytes == 0)
    }
}
