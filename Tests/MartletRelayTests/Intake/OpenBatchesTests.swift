// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

@Suite struct OpenBatchesTests {
    @Test func `each caller may have a number of open batches`() {
        var batches = OpenBatches()
        for _ in 0..<OpenBatches.limitPerCaller {
            let isOpen = batches.open(for: "a")
            #expect(isOpen)
        }
        let isOneMore = batches.open(for: "a")
        let isAnother = batches.open(for: "b")
        #expect(!isOneMore && isAnother)
        batches.close(for: "a")
        let isFree = batches.open(for: "a")
        #expect(isFree && batches.count(of: "a") == OpenBatches.limitPerCaller)
    }
}
