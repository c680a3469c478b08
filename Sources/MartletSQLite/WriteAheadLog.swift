// SPDX-License-Identifier: Apache-2.0

/// The content of a write-ahead log, checked frame by frame for damage that SQLite does not report.
///
/// SQLite reads a log up to the first frame that is not intact, and takes that frame for part of a transaction that a
/// crash has interrupted. It then discards all later frames. But a frame that follows a commit was written after that
/// commit had reached the disk, if each commit waits for the disk. When such a frame is intact and an earlier one is
/// not, the earlier one was changed after it was written. Damage in the last transaction cannot be told from a crash.
///
/// Frames of an earlier generation of the log, which remain behind the current ones, have other salts.
///
/// Source: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
package struct WriteAheadLog: Sendable {
    /// The part of a log that is damaged.
    package enum Damage: Sendable, Hashable {
        /// The header, without which SQLite discards all frames.
        case header
        /// The frame with this index; SQLite discards it and all later ones.
        case frame(Int)
    }

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    /// The first damage; nil for a log that is intact, empty or cut off by a crash.
    package private(set) var damage: Damage?
    /// The number of commits that SQLite discards because of the damage of a frame, with that frame's own; 0 when the
    /// header is damaged, without which frames cannot be told from those of earlier generations.
    package private(set) var discardedCommitCount = 0
    /// The number of whole frames, including those of earlier generations.
    package private(set) var frameCount = 0
    private var header: Header?
    /// Whether the log has no valid header, so that it has no frames either.
    private var isIgnored = false
    /// The bytes that have been added and are not a whole frame yet.
    private var rest: [UInt8] = []
    private var firstBroken: Int?
    /// The checksum that is stored in the previous frame, with which the checksum of the next one begins.
    private var previous = Checksum()
    private var followsCommit = false

    /// Creates an empty log.
    package init() {}

    /// Adds the next bytes of the log, of any number.
    package mutating func add(_ piece: [UInt8]) {
        guard !isIgnored else { return findContent(piece[...]) }
        rest += piece
        if header == nil { readHeader() }
        guard let header else { return }
        let bytes = rest
        let count = bytes.count / header.frameSize
        guard count > 0 else { return }
        bytes.withUnsafeBytes { bytes in
            for index in 0..<count {
                let start = index * header.frameSize
                readFrame(UnsafeRawBufferPointer(rebasing: bytes[start..<start + header.frameSize]), header)
            }
        }
        rest = Array(bytes[(count * header.frameSize)...])
    }

    /// The size in bytes of the part of the log before the damage; nil for a log without damage.
    package var sizeBeforeDamage: Int? {
        switch damage {
        case .header: 0
        case .frame(let index): WriteAheadLog.headerSize + index * (header?.frameSize ?? 0)
        case nil: nil
        }
    }

    private mutating func readHeader() {
        guard rest.count > WriteAheadLog.headerSize else { return }
        header = rest.withUnsafeBytes { Header($0) }
        if let header {
            previous = header.checksum
            rest.removeFirst(WriteAheadLog.headerSize)
        } else {
            isIgnored = true
            findContent(rest[WriteAheadLog.headerSize...])
        }
    }

    /// Looks for content behind an invalid header, which SQLite writes to the disk before the first frame.
    private mutating func findContent(_ bytes: ArraySlice<UInt8>) {
        if damage == nil, bytes.contains(where: { $0 != 0 }) { damage = .header }
    }

    private mutating func readFrame(_ frame: UnsafeRawBufferPointer, _ header: Header) {
        let stored = Checksum(frame, at: 16)
        var checksum = previous
        checksum.add(UnsafeRawBufferPointer(rebasing: frame[..<8]), isBigEndian: header.isBigEndian)
        checksum.add(
            UnsafeRawBufferPointer(rebasing: frame[WriteAheadLog.frameHeaderSize...]),
            isBigEndian: header.isBigEndian
        )
        let isIntact = frame.word(at: 0) != 0 && frame.salts(at: 8) == header.salts && checksum == stored
        if !isIntact {
            firstBroken = firstBroken ?? frameCount
        } else if followsCommit, let firstBroken, damage == nil {
            damage = .frame(firstBroken)
        }
        previous = stored
        // The size of the database after a commit; 0 in other frames.
        followsCommit = frame.word(at: 4) != 0
        if followsCommit, firstBroken != nil, frame.salts(at: 8) == header.salts { discardedCommitCount += 1 }
        frameCount += 1
    }

    /// The values of a header that is intact.
    private struct Header: Sendable {
        var frameSize: Int
        var isBigEndian: Bool
        var salts: UInt64
        var checksum: Checksum

        /// Reads a header; nil if SQLite would not use it.
        init?(_ bytes: UnsafeRawBufferPointer) {
            let magic = bytes.word(at: 0)
            guard magic == 0x377F_0682 || magic == 0x377F_0683 else { return nil }
            isBigEndian = magic == 0x377F_0683
            let pageSize = Int(bytes.word(at: 8))
            guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
            frameSize = WriteAheadLog.frameHeaderSize + pageSize
            salts = bytes.salts(at: 16)
            checksum = Checksum(bytes, at: 24)
            var calculated = Checksum()
            calculated.add(UnsafeRawBufferPointer(rebasing: bytes[..<24]), isBigEndian: isBigEndian)
            guard calculated == checksum else { return nil }
        }
    }

    /// SQLite's checksum of a log, which continues from frame to frame.
    private struct Checksum: Sendable, Equatable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        init() {}

        /// Reads a stored checksum.
        init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
            first = bytes.word(at: place)
            second = bytes.word(at: place + 4)
        }

        /// Adds bytes, whose number is a multiple of 8.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
            for place in stride(from: 0, to: bytes.count, by: 8) {
                let (one, other) = (bytes.word(at: place), bytes.word(at: place + 4))
                first = first &+ (isBigEndian ? one : one.byteSwapped) &+ second
                second = second &+ (isBigEndian ? other : other.byteSwapped) &+ first
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a big-endian number.
    fileprivate func word(at place: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: place, as: UInt32.self))
    }

    /// Returns both salts of a header or a frame.
    fileprivate func salts(at place: Int) -> UInt64 {
        loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }
}
