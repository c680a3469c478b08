// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An error whose `localizedDescription` is its `description`.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The `description`.
    public var errorDescription: String? { description }
}

extension APNsIDError: DescribedError {}
extension CollapseIDError: DescribedError {}
extension DeviceTokenError: DescribedError {}
extension JSONError: DescribedError {}
extension PayloadError: DescribedError {}
extension ProviderTokenError: DescribedError {}
