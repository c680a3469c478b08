// SPDX-License-Identifier: Apache-2.0

/// The path of a value in a JSON document, for error messages.
package struct JSONPath: Sendable, Hashable, CustomStringConvertible {
    private enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    /// The name of the whole document in messages, such as "the body".
    private let root: String
    /// All steps but the last, separately, so that the path of a member of the document needs no allocation.
    private let parents: [Step]
    private let last: Step?

    /// Creates the path of a whole document.
    ///
    /// - Parameter root: The name of the document in messages, such as "the body".
    package init(root: String) {
        self.init(root: root, parents: [], last: nil)
    }

    private init(root: String, parents: [Step], last: Step?) {
        self.root = root
        self.parents = parents
        self.last = last
    }

    private var steps: [Step] { last.map { parents + [$0] } ?? parents }

    package func appending(_ name: String) -> JSONPath {
        JSONPath(root: root, parents: steps, last: .member(name))
    }

    package func appending(_ index: Int) -> JSONPath {
        JSONPath(root: root, parents: steps, last: .element(index))
    }

    /// The path as in `apps[0].rate`, or the name of the document; a name that may be a secret is described.
    package var description: String {
        guard last != nil else { return root }
        var text = ""
        for step in steps {
            switch step {
            case .member(let name): text += (text.isEmpty ? "" : ".") + ShownValue(name).description
            case .element(let index): text += "[\(index)]"
            }
        }
        return text
    }

    /// The path as a JSON Pointer, as in `/apps/0/rate` (RFC 6901); empty for the whole document.
    package var pointer: String {
        JSONPointer.path(
            steps.map { step in
                switch step {
                case .member(let name): name
                case .element(let index): String(index)
                }
            }
        )
    }
}
