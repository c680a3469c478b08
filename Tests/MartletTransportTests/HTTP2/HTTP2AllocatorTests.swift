// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct HTTP2AllocatorTests {
    @Test(arguments: [0, 1, 31, 32, 33, 360, 512]) func `a released block is reused`(_ size: Int) throws {
        let allocator = HTTP2Allocator()
        let block = try #require(allocator.freeLists.block(of: size))
        allocator.freeLists.release(block)
        #expect(allocator.freeLists.freeBlockCount == 1)
        #expect(allocator.freeLists.block(of: size) == block)
        #expect(allocator.freeLists.freeBlockCount == 0)
        allocator.freeLists.release(block)
    }

    @Test(arguments: [-1, Int.min, Int.max, Int.max - 15]) func `an impossible size is refused`(_ size: Int) {
        let allocator = HTTP2Allocator()
        let block = allocator.freeLists.block(of: 10)
        #expect(allocator.freeLists.block(of: size) == nil)
        #expect(allocator.freeLists.resize(block, to: size) == nil)
        allocator.freeLists.release(block)
    }

    @Test func `a large block is not cached`() throws {
        let allocator = HTTP2Allocator()
        allocator.freeLists.release(allocator.freeLists.block(of: HTTP2FreeLists.largestSize + 1))
        #expect(allocator.freeLists.freeBlockCount == 0)
    }

    @Test func `the number of cached blocks of a size is limited`() throws {
        let allocator = HTTP2Allocator()
        let blocks = try (0..<1_000).map { _ in try #require(allocator.freeLists.block(of: 100)) }
        #expect(Set(blocks).count == 1_000)
        for block in blocks { allocator.freeLists.release(block) }
        #expect(allocator.freeLists.freeBlockCount == HTTP2FreeLists.limit)
    }

    @Test func `a resized block keeps its content`() throws {
        let allocator = HTTP2Allocator()
        var block: UnsafeMutableRawPointer?
        var size = 0
        for next in [5, 40, 500, 600, 5_000, 100] {
            block = allocator.freeLists.resize(block, to: next)
            let bytes = UnsafeMutableRawBufferPointer(start: block, count: next)
            let isSame = bytes.prefix(size).allSatisfy { $0 == UInt8(truncatingIfNeeded: size) }
            #expect(isSame, "from \(size) to \(next)")
            bytes.copyBytes(from: repeatElement(UInt8(truncatingIfNeeded: next), count: next))
            size = next
        }
        allocator.freeLists.release(block)
    }

    @Test(arguments: 0..<20) func `blocks in use do not overlap`(_ seed: UInt64) throws {
        var random = LinearCongruentialGenerator(state: seed)
        let allocator = HTTP2Allocator()
        var blocks: [(start: UnsafeMutableRawPointer, size: Int, mark: UInt8)] = []
        for step in 0..<2_000 {
            if blocks.count < 300, Int.random(in: 0..<5, using: &random) > 1 {
                let size = Int.random(in: 0...700, using: &random)
                let start = try #require(allocator.freeLists.block(of: size))
                let mark = UInt8(truncatingIfNeeded: step)
                start.initializeMemory(as: UInt8.self, repeating: mark, count: size)
                blocks.append((start, size, mark))
            } else if let index = blocks.indices.randomElement(using: &random) {
                let (start, size, mark) = blocks.remove(at: index)
                let isUntouched = UnsafeRawBufferPointer(start: start, count: size).allSatisfy { $0 == mark }
                #expect(isUntouched)
                allocator.freeLists.release(start)
            }
        }
        for block in blocks { allocator.freeLists.release(block.start) }
    }
}

/// Knuth's linear congruential generator, so that a failure can be reproduced.
private struct LinearCongruentialGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}
