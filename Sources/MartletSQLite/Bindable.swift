// SPDX-License-Identifier: Apache-2.0

/// A value that can be bound to a parameter of a statement.
package protocol Bindable {
    /// Binds the value, or NULL.
    func bind(to statement: borrowing Statement, at position: Int) throws(SQLiteError)
}

extension Int64: Bindable {
    package func bind(to statement: borrowing Statement, at position: Int) throws(SQLiteError) {
        try statement.bind(self, at: position)
    }
}

extension String: Bindable {
    package func bind(to statement: borrowing Statement, at position: Int) throws(SQLiteError) {
        try statement.bind(self, at: position)
    }
}

extension [UInt8]: Bindable {
    package func bind(to statement: borrowing Statement, at position: Int) throws(SQLiteError) {
        try statement.bind(self, at: position)
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    package func bind(to statement: borrowing Statement, at position: Int) throws(SQLiteError) {
        guard let value = self else { return try statement.bindNull(at: position) }
        try value.bind(to: statement, at: position)
    }
}

extension Statement {
    /// Binds all parameters in order.
    package func bind<each Value: Bindable>(_ values: repeat each Value) throws(SQLiteError) {
        var position = 0
        for value in repeat each values {
            position += 1
            try value.bind(to: self, at: position)
        }
    }

    /// Binds all parameters, runs the statement to completion and discards its rows.
    package func run<each Value: Bindable>(with values: repeat each Value) throws(SQLiteError) {
        try bind(repeat each values)
        try run()
    }
}
