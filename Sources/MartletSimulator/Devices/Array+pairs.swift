// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// Pairs each element with the first of other elements that has the same name, or with nil.
    ///
    /// The work is linear in the number of elements: the names of the others are read once.
    ///
    /// - Parameters:
    ///   - others: The other elements.
    ///   - name: The name of an element.
    /// - Returns: A pair for each element of this array, in its order.
    func paired<Name: Hashable>(
        with others: [Element],
        by name: (Element) -> Name
    ) -> [(element: Element, other: Element?)] {
        let named = Dictionary(others.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
        return map { (element: $0, other: named[name($0)]) }
    }
}
