// SPDX-License-Identifier: Apache-2.0

internal import CMartletZlib

/// A compressor for the gzip format (RFC 1952), whose memory is freed when the value is destroyed.
///
/// The module `MartletZlib` compresses bytes through zlib and contains all unsafe pointers that this needs. A stream
/// takes about 280 KiB, whatever the size of its input, and belongs to one task: it is not `Sendable`.
package struct GzipStream: ~Copyable {
    /// The number of bytes that zlib writes at a time.
    private static let outputSize = 16 << 10

    /// The state of zlib, which must not move: zlib stores its address.
    private let raw: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>

    /// Creates a stream; nil when zlib cannot allocate its memory.
    ///
    /// - Parameter level: The level of compression, from 1 (fast) to 9 (small).
    package init?(level: Int) {
        let raw = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        raw.initialize(to: z_stream())
        guard martlet_zlib_start_gzip(raw, CInt(min(max(level, 1), 9))) == Z_OK else {
            raw.deallocate()
            return nil
        }
        self.raw = raw
        output = .allocate(capacity: GzipStream.outputSize)
    }

    deinit {
        deflateEnd(raw)
        raw.deallocate()
        output.deallocate()
    }

    /// Compresses a part of the input and appends the output that is ready.
    ///
    /// - Parameters:
    ///   - bytes: The next bytes of the input.
    ///   - isLast: Whether the input ends with them; after the last part the stream cannot be used again.
    ///   - compressed: The array that the output is appended to.
    package mutating func compress(_ bytes: ArraySlice<UInt8>, isLast: Bool, into compressed: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { input in
            // zlib does not write to its input.
            raw.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            raw.pointee.avail_in = UInt32(clamping: input.count)
            // With room left in the output, zlib has used all input and has nothing more to write.
            repeat {
                raw.pointee.next_out = output
                raw.pointee.avail_out = UInt32(GzipStream.outputSize)
                _ = deflate(raw, isLast ? Z_FINISH : Z_NO_FLUSH)
                let count = GzipStream.outputSize - Int(raw.pointee.avail_out)
                compressed.append(contentsOf: UnsafeBufferPointer(start: output, count: count))
            } while raw.pointee.avail_out == 0
            raw.pointee.next_in = nil
        }
    }
}
