internal import CMartletNghttp2

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The allocator of an nghttp2 session, which reuses freed blocks.
///
/// A push takes a dozen small blocks of a session. Responses that arrive together free their blocks together, more than
/// the C library caches, and the requests that follow allocate as many again.
///
/// No block may be used after this value is destroyed.
struct HTTP2Memory: ~Copyable {
    let shelves = HTTP2Shelves()

    deinit {
        shelves.clear()
    }

    /// The allocation functions for nghttp2; valid while this value exists.
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

/// The free lists of an ``HTTP2Memory``, by block size; the ``HTTP2Memory`` owns the storage.
struct HTTP2Shelves {
    /// A free list of blocks of one size; each block begins with the address of the next.
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

    /// The binary logarithm of the granularity: the sizes of blocks are multiples of 32 bytes.
    private static let granuleBits = 5
    private static let count = 16
    /// The largest size of blocks that are reused.
    static let largestSize = count << granuleBits
    /// The maximum number of free blocks of one size: as many as the responses that are read together need, however
    /// many streams have been open.
    static let limit = 128
    /// The length of the header before each block, which holds the index of its free list, or `count` when it has none.
    private static let headerLength = 16
    /// The sizes that can be allocated; C's `size_t` exceeds Swift's `Int`.
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

    /// The number of free blocks.
    var keptCount: Int { UnsafeBufferPointer(start: shelves, count: HTTP2Shelves.count).reduce(0) { $0 + $1.count } }

    /// Returns memory for this many bytes; nil when none is available.
    func block(of size: Int) -> UnsafeMutableRawPointer? {
        guard HTTP2Shelves.sizes.contains(size) else { return nil }
        let shelf = max(0, size &- 1) &>> HTTP2Shelves.granuleBits
        guard shelf < HTTP2Shelves.count else { return fresh(malloc(size + HTTP2Shelves.headerLength), shelf) }
        return shelves[shelf].pop() ?? fresh(malloc(room(on: shelf) + HTTP2Shelves.headerLength), shelf)
    }

    /// Frees a block; nil is ignored.
    func take(back block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let shelf = shelf(of: block)
        if shelf < HTTP2Shelves.count, shelves[shelf].count < HTTP2Shelves.limit {
            shelves[shelf].push(block)
        } else {
            free(block - HTTP2Shelves.headerLength)
        }
    }

    /// Returns a block with the same content and a capacity of this many bytes; nil when no memory is available.
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
