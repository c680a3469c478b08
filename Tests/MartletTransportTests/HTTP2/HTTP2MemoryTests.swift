import Testing

@testable import MartletTransport

@Suite struct HTTP2MemoryTests {
    @Test(arguments: [0, 1, 31, 32, 33, 360, 512]) func `what was given back is given out again`(_ size: Int) throws {
        let memory = HTTP2Memory()
        let block = try #require(memory.freeLists.block(of: size))
        memory.freeLists.release(block)
        #expect(memory.freeLists.freeBlockCount == 1)
        #expect(memory.freeLists.block(of: size) == block)
        #expect(memory.freeLists.freeBlockCount == 0)
        memory.freeLists.release(block)
    }

    @Test(arguments: [-1, Int.min, Int.max, Int.max - 15]) func `more than there can be is not given`(_ size: Int) {
        let memory = HTTP2Memory()
        let block = memory.freeLists.block(of: 10)
        #expect(memory.freeLists.block(of: size) == nil)
        #expect(memory.freeLists.resize(block, to: size) == nil)
        memory.freeLists.release(block)
    }

    @Test func `a large block is not kept`() throws {
        let memory = HTTP2Memory()
        memory.freeLists.release(memory.freeLists.block(of: HTTP2FreeLists.largestSize + 1))
        #expect(memory.freeLists.freeBlockCount == 0)
    }

    @Test func `no more is kept of a size than can be of use`() throws {
        let memory = HTTP2Memory()
        let blocks = try (0..<1_000).map { _ in try #require(memory.freeLists.block(of: 100)) }
        #expect(Set(blocks).count == 1_000)
        for block in blocks { memory.freeLists.release(block) }
        #expect(memory.freeLists.freeBlockCount == HTTP2FreeLists.limit)
    }

    @Test func `a block that has to grow keeps its content`() throws {
        let memory = HTTP2Memory()
        var block: UnsafeMutableRawPointer?
        var size = 0
        for next in [5, 40, 500, 600, 5_000, 100] {
            block = memory.freeLists.resize(block, to: next)
            let bytes = UnsafeMutableRawBufferPointer(start: block, count: next)
            let isSame = bytes.prefix(size).allSatisfy { $0 == UInt8(truncatingIfNeeded: size) }
            #expect(isSame, "from \(size) to \(next)")
            bytes.copyBytes(from: repeatElement(UInt8(truncatingIfNeeded: next), count: next))
            size = next
        }
        memory.freeLists.release(block)
    }

    @Test(arguments: 0..<20) func `no two in use share a byte`(_ seed: UInt64) throws {
        var random = Dice(state: seed)
        let memory = HTTP2Memory()
        var blocks: [(start: UnsafeMutableRawPointer, size: Int, mark: UInt8)] = []
        for step in 0..<2_000 {
            if blocks.count < 300, Int.random(in: 0..<5, using: &random) > 1 {
                let size = Int.random(in: 0...700, using: &random)
                let start = try #require(memory.freeLists.block(of: size))
                let mark = UInt8(truncatingIfNeeded: step)
                start.initializeMemory(as: UInt8.self, repeating: mark, count: size)
                blocks.append((start, size, mark))
            } else if let index = blocks.indices.randomElement(using: &random) {
                let (start, size, mark) = blocks.remove(at: index)
                let isUntouched = UnsafeRawBufferPointer(start: start, count: size).allSatisfy { $0 == mark }
                #expect(isUntouched)
                memory.freeLists.release(start)
            }
        }
        for block in blocks { memory.freeLists.release(block.start) }
    }
}

/// Knuth's linear congruential generator, so that a failure can be seen again.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}
