#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ActivityContractError: LocalizedError {
    /// The ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { description }
}

extension JSONSchemaError: LocalizedError {
    /// The ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { description }
}

extension PushQueryError: LocalizedError {
    /// The ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { description }
}

extension SchemaExplorationError: LocalizedError {
    /// The ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { description }
}

extension SimulatorError: LocalizedError {
    /// The ``description``, so that `localizedDescription` has the same text.
    public var errorDescription: String? { description }
}
