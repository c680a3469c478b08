// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ActivityContractError: DescribedError {}
extension JSONSchemaError: DescribedError {}
extension PushQueryError: DescribedError {}
extension SchemaExplorationError: DescribedError {}
extension SimulatorError: DescribedError {}
