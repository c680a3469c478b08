internal import CNghttp2

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Where an nghttp2 session has its memory from: it gives out again what it was given back.
///
/// A push takes a session a dozen small blocks. Answers that come together give theirs back together, more than the C
/// library keeps at hand, and the requests that follow take as many again.
///
/// Nobody may use a block when this goes.
struct HTTP2Memory: ~Copyable {
    let shelves = HTTP2Shelves()

    deinit {
        shelves.clear()
    }

    /// The memory as nghttp2 asks for it; valid as long as this is.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: shelves.start,
            malloc: { size, context in HTTP2Shelves(context)?.block(of: size) },
            free: { block, context in HTTP2Shelves(context)?.take(back: block) },
            calloc: { count, size, context in
                let (total, isTooMuch) = count.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let block = HTTP2Shelves(context)?.block(of: total) else { return nil }
                return memset(block, 0, total)
            },
            realloc: { block, size, context in HTTP2Shelves(context)?.resize(block, to: size) }
        )
    }
}

/// Blocks by their sizes, lent by the ``HTTP2Memory`` that owns them.
struct HTTP2Shelves {
    /// Blocks of a size that wait to be given out again, each beginning with the address of the next.
    private struct Shelf {
        var first: UnsafeMutableRawPointer?
        var count = 0

        mutating func pop() -> UnsafeMutableRawPointer? {
            guard let block = first else { return nil }
            first = block.load(as: UnsafeMutableRawPointer?.self)
            count &-= 1
            return block
        }

        mutating func push(_ block: UnsafeMutableRawPointer) {
            block.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
            first = block
            count &+= 1
        }
    }

    /// The sizes of blocks are multiples of this power of two.
    private static let granuleBits = 5
    private static let count = 16
    /// Larger blocks are not kept.
    static let largestSize = count << granuleBits
    /// Blocks of a size that are kept: as many as the answers take that are read together, however many streams have
    /// been open.
    static let limit = 128
    /// What stands before each block: the number of its shelf; the number after the last means that it has none.
    private static let headerLength = 16
    /// What can be asked for: C's sizes go further than Swift's numbers.
    private static let sizes = 0...Int.max - headerLength

    private let shelves: UnsafeMutablePointer<Shelf>

    fileprivate init() {
        shelves = .allocate(capacity: HTTP2Shelves.count)
        shelves.initialize(repeating: Shelf(), count: HTTP2Shelves.count)
    }

    fileprivate init?(_ start: UnsafeMutableRawPointer?) {
        guard let start else { return nil }
        shelves = start.assumingMemoryBound(to: Shelf.self)
    }

    fileprivate var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(shelves) }

    fileprivate func clear() {
        for shelf in 0..<HTTP2Shelves.count {
            while let block = shelves[shelf].pop() { free(block - HTTP2Shelves.headerLength) }
        }
        shelves.deallocate()
    }

    /// How many blocks wait to be given out again.
    var keptCount: Int { UnsafeBufferPointer(start: shelves, count: HTTP2Shelves.count).reduce(0) { $0 + $1.count } }

    /// Memory for this many bytes; nil without any.
    func block(of size: Int) -> UnsafeMutableRawPointer? {
        guard HTTP2Shelves.sizes.contains(size) else { return nil }
        let shelf = max(0, size &- 1) &>> HTTP2Shelves.granuleBits
        guard shelf < HTTP2Shelves.count else { return fresh(malloc(size + HTTP2Shelves.headerLength), shelf) }
        return shelves[shelf].pop() ?? fresh(malloc(room(on: shelf) + HTTP2Shelves.headerLength), shelf)
    }

    /// Takes a block back, if it is one.
    func take(back block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let shelf = shelf(of: block)
        if shelf < HTTP2Shelves.count, shelves[shelf].count < HTTP2Shelves.limit {
            shelves[shelf].push(block)
        } else {
            free(block - HTTP2Shelves.headerLength)
        }
    }

    /// A block with the same content, as far as it goes, and room for this many bytes; nil without memory.
    func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return self.block(of: size) }
        guard HTTP2Shelves.sizes.contains(size) else { return nil }
        let shelf = shelf(of: block)
        guard shelf < HTTP2Shelves.count else {
            return fresh(realloc(block - HTTP2Shelves.headerLength, size + HTTP2Shelves.headerLength), shelf)
        }
        guard size > room(on: shelf) else { return block }
        guard let larger = self.block(of: size) else { return nil }
        larger.copyMemory(from: block, byteCount: room(on: shelf))
        take(back: block)
        return larger
    }

    private func room(on shelf: Int) -> Int { (shelf + 1) << HTTP2Shelves.granuleBits }

    private func fresh(_ memory: UnsafeMutableRawPointer?, _ shelf: Int) -> UnsafeMutableRawPointer? {
        guard let memory else { return nil }
        memory.storeBytes(of: min(shelf, HTTP2Shelves.count), as: Int.self)
        return memory + HTTP2Shelves.headerLength
    }

    private func shelf(of block: UnsafeMutableRawPointer) -> Int {
        (block - HTTP2Shelves.headerLength).load(as: Int.self)
    }
}
