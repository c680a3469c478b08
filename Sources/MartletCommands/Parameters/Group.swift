// SPDX-License-Identifier: Apache-2.0

/// Several parameters that are combined to one value, declared once and used by several commands.
///
/// ```swift
/// let size = Group(Option<Int>("--width", "Columns"), Option<Int>("--height", "Rows")) { Size($0, $1) }
/// ```
package struct Group<Value: Sendable>: Parameter {
    package let descriptions: [ParameterDescription]
    private let read: @Sendable (inout ArgumentReader) throws(UsageError) -> Value

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - combine: Creates the value; its errors are reported to the user.
    package init<each P: Parameter>(
        _ parameters: repeat each P,
        combine: @escaping @Sendable (repeat (each P).Value) throws(UsageError) -> Value
    ) {
        var descriptions: [ParameterDescription] = []
        for parameter in repeat each parameters { descriptions += parameter.descriptions }
        self.descriptions = descriptions
        read = { (reader: inout ArgumentReader) throws(UsageError) in
            try combine(repeat try (each parameters).take(from: &reader))
        }
    }

    /// Creates a group of parameters of one type, whose number is known at run time.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - combine: Creates the value; its errors are reported to the user.
    package init<P: Parameter>(
        all parameters: [P],
        combine: @escaping @Sendable ([P.Value]) throws(UsageError) -> Value
    ) {
        descriptions = parameters.flatMap(\.descriptions)
        read = { (reader: inout ArgumentReader) throws(UsageError) in
            var values: [P.Value] = []
            for parameter in parameters { values.append(try parameter.take(from: &reader)) }
            return try combine(values)
        }
    }

    package func take(from reader: inout ArgumentReader) throws(UsageError) -> Value {
        try read(&reader)
    }
}
