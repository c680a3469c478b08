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
struct HTTP2Memory: ~Copyable {
    /// Blocks are multiples of this in size, and those of a size are on a shelf together.
    private static let granule = 32
    private static let shelfCount = 16
    /// The most that is kept for later: what a hundred pushes take, however many streams have been open.
    static let keptLimit = 128 * 1024
    /// What stands before each block: the number of its shelf, or 0 when it is too large for any.
    private static let headerLength = 16

    /// The first block of each shelf, each of which begins with the address of the next.
    private struct Shelves {
        var first: UnsafeMutablePointer<UnsafeMutableRawPointer?>
        var keptBytes = 0
    }

    private let shelves: UnsafeMutablePointer<Shelves>

    init() {
        let first = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: HTTP2Memory.shelfCount + 1)
        first.initialize(repeating: nil, count: HTTP2Memory.shelfCount + 1)
        shelves = .allocate(capacity: 1)
        shelves.initialize(to: Shelves(first: first))
    }

    /// What is in use then must be given back to `free(_:)` by nobody.
    deinit {
        for shelf in 1...HTTP2Memory.shelfCount {
            while let block = shelves.pointee.first[shelf] {
                shelves.pointee.first[shelf] = block.load(as: UnsafeMutableRawPointer?.self)
                free(block - HTTP2Memory.headerLength)
            }
        }
        shelves.pointee.first.deallocate()
        shelves.deallocate()
    }

    /// The memory as nghttp2 asks for it; valid as long as this is.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: shelves,
            malloc: { size, context in HTTP2Memory.allocate(size, context) },
            free: { block, context in HTTP2Memory.giveBack(block, context) },
            calloc: { count, size, context in
                let (total, isTooMuch) = count.multipliedReportingOverflow(by: size)
                guard !isTooMuch, let block = HTTP2Memory.allocate(total, context) else { return nil }
                return memset(block, 0, total)
            },
            realloc: { block, size, context in HTTP2Memory.reallocate(block, size, context) }
        )
    }

    /// Bytes that wait to be given out again.
    var keptBytes: Int { shelves.pointee.keptBytes }

    private static func allocate(_ size: Int, _ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let shelves = context?.assumingMemoryBound(to: Shelves.self) else { return nil }
        let shelf = (size + granule - 1) / granule
        guard shelf <= shelfCount else { return label(malloc(size + headerLength), 0) }
        guard shelf > 0, let block = shelves.pointee.first[shelf] else {
            return label(malloc(max(1, shelf) * granule + headerLength), max(1, shelf))
        }
        shelves.pointee.first[shelf] = block.load(as: UnsafeMutableRawPointer?.self)
        shelves.pointee.keptBytes -= shelf * granule
        return block
    }

    private static func label(_ memory: UnsafeMutableRawPointer?, _ shelf: Int) -> UnsafeMutableRawPointer? {
        memory?.storeBytes(of: shelf, as: Int.self)
        return memory.map { $0 + headerLength }
    }

    private static func giveBack(_ block: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?) {
        guard let block, let shelves = context?.assumingMemoryBound(to: Shelves.self) else { return }
        let shelf = shelf(of: block)
        guard shelf > 0, shelves.pointee.keptBytes < keptLimit else { return free(block - headerLength) }
        block.storeBytes(of: shelves.pointee.first[shelf], as: UnsafeMutableRawPointer?.self)
        shelves.pointee.first[shelf] = block
        shelves.pointee.keptBytes += shelf * granule
    }

    private static func reallocate(
        _ block: UnsafeMutableRawPointer?,
        _ size: Int,
        _ context: UnsafeMutableRawPointer?
    ) -> UnsafeMutableRawPointer? {
        guard let block else { return allocate(size, context) }
        let shelf = shelf(of: block)
        guard shelf > 0 else { return realloc(block - headerLength, size + headerLength).map { $0 + headerLength } }
        let room = shelf * granule
        guard size > room else { return block }
        guard let larger = allocate(size, context) else { return nil }
        larger.copyMemory(from: block, byteCount: room)
        giveBack(block, context)
        return larger
    }

    private static func shelf(of block: UnsafeMutableRawPointer) -> Int {
        (block - headerLength).load(as: Int.self)
    }
}
