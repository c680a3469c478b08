#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension APNsIDError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension CollapseIDError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension DeviceTokenError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension PayloadError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension ProviderTokenError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}
