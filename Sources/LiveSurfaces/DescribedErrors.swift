// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension RefusedInstallationRequest: DescribedError {}
extension SurfaceError: DescribedError {}
extension WrongSurfaceKind: DescribedError {}
