// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Returns the value changed by a JSON Merge Patch (RFC 7396).
    ///
    /// Members that are null in the patch are removed, objects are merged, and other values replace those of the same
    /// name. The order of the members stays, and new ones follow.
    ///
    /// - Parameter patch: The patch.
    /// - Returns: The changed value.
    package func merging(_ patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var merged: [Member?] = members ?? []
        // A search for each name would take time that is quadratic in their number.
        var places: [[UInt8]: Int] = [:]
        for (place, member) in (members ?? []).enumerated() { places[Array(member.name.utf8)] = place }
        for change in changes {
            let place = places[Array(change.name.utf8)]
            guard change.value != .null else {
                if let place { merged[place] = nil }
                continue
            }
            let old = place.flatMap { merged[$0] }
            let new = Member(change.name, (old?.value ?? .null).merging(change.value))
            if let place { merged[place] = new } else { merged.append(new) }
        }
        return .object(merged.compactMap(\.self))
    }
}
