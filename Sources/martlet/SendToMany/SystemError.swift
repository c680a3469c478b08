#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The message about a file that the system refuses to open or write, with the directory of a relative path.
///
/// - Parameters:
///   - action: The action that failed, such as "read".
///   - path: The path as it was given.
///   - number: The system's number (`errno`).
/// - Returns: The message, without the final stop.
func systemError(_ action: String, _ path: String, _ number: CInt) -> String {
    let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    let place = path.hasPrefix("/") ? "" : " (in \(FileManager.default.currentDirectoryPath))"
    return "\(path) cannot be \(action): \(reason)\(place)"
}
