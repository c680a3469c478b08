// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An output of the program: a terminal, or a file or pipe.
package struct Terminal: Sendable {
    /// Standard output.
    package static let output = Terminal(descriptor: 1)
    /// Standard error.
    package static let errors = Terminal(descriptor: 2)

    /// The error number of the first write that failed, by descriptor.
    private static let failures = Mutex<[CInt: CInt]>([:])

    private let descriptor: CInt
    /// Whether the output is a terminal.
    package let isInteractive: Bool
    /// Whether text is colored: in a terminal, unless `NO_COLOR` is set (https://no-color.org).
    package let hasColors: Bool

    private init(descriptor: CInt) {
        self.descriptor = descriptor
        isInteractive = isatty(descriptor) == 1
        hasColors = unsafe isInteractive && getenv("NO_COLOR") == nil
    }

    /// The number of columns for text: that of the terminal, from 40 to 120; 100 for a file or pipe.
    package var width: Int {
        var size = winsize()
        guard isInteractive, unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 100 }
        return min(max(40, Int(size.ws_col)), 120)
    }

    /// The reason for which the first failed write failed, such as a full disk; nil if all writes succeeded.
    ///
    /// A reader that closes a pipe early, as `head` does, is not an error.
    package var failure: String? {
        Terminal.failures.withLock { $0[descriptor] }.map { unsafe String(cString: strerror($0)) }
    }

    /// Writes text without buffering; ``failure`` reports an error.
    package func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                #else
                    unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
                #endif
            }
            let reason = errno
            guard count > 0 || reason == EINTR else {
                guard reason != EPIPE else { return }
                return Terminal.failures.withLock { if $0[descriptor] == nil { $0[descriptor] = reason } }
            }
            bytes = bytes.dropFirst(max(0, count))
        }
    }

    /// Shows the progress of a command until the task is cancelled: a terminal gets one line that is rewritten every
    /// 100 ms and deleted at the end, a file or pipe a line every 5 s.
    ///
    /// - Parameter line: Returns the line, which is cut to the width of the terminal: one that wraps could not be
    ///   deleted.
    /// - Throws: The error of `line`.
    package func showProgress(_ line: @Sendable () throws -> String) async throws {
        defer { if isInteractive { write("\r\u{1B}[2K") } }
        while !Task.isCancelled {
            try? await Task.sleep(for: isInteractive ? .milliseconds(100) : .seconds(5))
            let text = try line()
            if Task.isCancelled { break }
            write(isInteractive ? "\r\u{1B}[2K\(text.prefix(width - 1))" : text + "\n")
        }
    }

    /// Returns the text with the escape sequences of a style, if the output has colors.
    package func styled(_ text: String, _ style: TextStyle) -> String {
        guard hasColors, let code = style.code else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// A style of text.
package enum TextStyle: Sendable, Hashable {
    /// No style.
    case plain
    /// A heading.
    case bold
    /// Less important than the surrounding text.
    case faint
    /// Success.
    case good
    /// Failure.
    case bad

    fileprivate var code: Int? {
        switch self {
        case .plain: nil
        case .bold: 1
        case .faint: 2
        case .good: 32
        case .bad: 31
        }
    }
}
