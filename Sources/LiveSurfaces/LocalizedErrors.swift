#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension SurfaceError: LocalizedError {
    /// The ``description``, so that `localizedDescription` is as useful.
    public var errorDescription: String? { description }
}

extension WrongSurfaceKind: LocalizedError {
    /// The ``description``, so that `localizedDescription` is as useful.
    public var errorDescription: String? { description }
}
