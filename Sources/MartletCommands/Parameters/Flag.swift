// SPDX-License-Identifier: Apache-2.0

/// A parameter that is present or absent, as in `--json`.
package struct Flag: Parameter {
    private let description: ParameterDescription

    /// Creates a flag.
    package init(_ spelling: String, _ help: String) {
        description = ParameterDescription(.flag, spelling, help)
    }

    package var descriptions: [ParameterDescription] { [description] }

    package func take(from reader: inout ArgumentReader) throws(UsageError) -> Bool {
        try reader.takeFlag(description)
    }
}
