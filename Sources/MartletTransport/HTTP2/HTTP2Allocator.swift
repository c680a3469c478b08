// SPDX-License-Identifier: Apache-2.0

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
struct HTTP2Allocator: ~Copyable {
    let freeLists = HTTP2FreeLists()

    deinit {
        freeLists.clear()
    }

    /// The allocation functions for nghttp2; valid while this value exists.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: freeLists.start,
            malloc: { size, context in HTTP2FreeLists(context)?.block(of: size) },
            free: { block, context in HTTP2FreeLists(context)?.release(block) },
            calloc: { count, size, context in
                let (total, overflows) = count.multipliedReportingOverflow(by: size)
                guard !overflows, let block = HTTP2FreeLists(context)?.block(of: total) else { return nil }
                return memset(block, 0, total)
            },
            realloc: { block, size, context in HTTP2FreeLists(context)?.resize(block, to: size) }
        )
    }
}

/// The free lists of an ``HTTP2Allocator``, by block size; the ``HTTP2Allocator`` owns the storage.
struct HTTP2FreeLists {
    /// A free list of blocks of one size; each block begins with the address of the next.
    private struct FreeList {
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
    static let largestSize = count << granuleBits
    /// The maximum number of free blocks of one size: as many as the responses that are read together need, however
    /// many streams have been open.
    static let limit = 128
    /// The length of the header before each block, which holds the index of its free list, or `count` when it has none.
    private static let headerLength = 16
    /// The sizes that can be allocated; C's `size_t` exceeds Swift's `Int`.
    private static let sizes = 0...Int.max - headerLength

    private let freeLists: UnsafeMutablePointer<FreeList>

    fileprivate init() {
        freeLists = .allocate(capacity: HTTP2FreeLists.count)
        freeLists.initialize(repeating: FreeList(), count: HTTP2FreeLists.count)
    }

    fileprivate init?(_ start: UnsafeMutableRawPointer?) {
        guard let start else { return nil }
        freeLists = start.assumingMemoryBound(to: FreeList.self)
    }

    fileprivate var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(freeLists) }

    fileprivate func clear() {
        for index in 0..<HTTP2FreeLists.count {
            while let block = freeLists[index].pop() { free(block - HTTP2FreeLists.headerLength) }
        }
        freeLists.deallocate()
    }

    var freeBlockCount: Int {
        UnsafeBufferPointer(start: freeLists, count: HTTP2FreeLists.count).reduce(0) { $0 + $1.count }
    }

    /// Returns memory for this many bytes; nil when none is available.
    func block(of size: Int) -> UnsafeMutableRawPointer? {
        guard HTTP2FreeLists.sizes.contains(size) else { return nil }
        let index = max(0, size &- 1) &>> HTTP2FreeLists.granuleBits
        guard index < HTTP2FreeLists.count else { return newBlock(malloc(size + HTTP2FreeLists.headerLength), index) }
        return freeLists[index].pop() ?? newBlock(malloc(capacity(of: index) + HTTP2FreeLists.headerLength), index)
    }

    /// Frees a block; nil is ignored.
    func release(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let index = listIndex(of: block)
        if index < HTTP2FreeLists.count, freeLists[index].count < HTTP2FreeLists.limit {
            freeLists[index].push(block)
        } else {
            free(block - HTTP2FreeLists.headerLength)
        }
    }

    /// Returns a block with the same content and a capacity of this many bytes; nil when no memory is available.
    func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer? {
        guard let block else { return self.block(of: size) }
        guard HTTP2FreeLists.sizes.contains(size) else { return nil }
        let index = listIndex(of: block)
        guard index < HTTP2FreeLists.count else {
            return newBlock(realloc(block - HTTP2FreeLists.headerLength, size + HTTP2FreeLists.headerLength), index)
        }
        guard size > capacity(of: index) else { return block }
        guard let larger = self.block(of: size) else { return nil }
        larger.copyMemory(from: block, byteCount: capacity(of: index))
        release(block)
        return larger
    }

    private func capacity(of index: Int) -> Int { (index + 1) << HTTP2FreeLists.granuleBits }

    private func newBlock(_ memory: UnsafeMutableRawPointer?, _ index: Int) -> UnsafeMutableRawPointer? {
        guard let memory else { return nil }
        memory.storeBytes(of: min(index, HTTP2FreeLists.count), as: Int.self)
        return memory + HTTP2FreeLists.headerLength
    }

    private func listIndex(of block: UnsafeMutableRawPointer) -> Int {
        (block - HTTP2FreeLists.headerLength).load(as: Int.self)
    }
}
