// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A setting of a part of the configuration, with the property that stores it.
struct Setting<Owner>: Sendable {
    private(set) var declaration: SettingDeclaration
    /// Reads the setting of an object into the property.
    let read: @Sendable (ConfigurationField, ConfigurationDirectories, inout Owner) throws(RelayError) -> Void
    /// Returns whether the setting of two owners is the same.
    let isEqual: @Sendable (Owner, Owner) -> Bool
    /// Copies the setting from the first owner to the second.
    let copy: @Sendable (Owner, inout Owner) -> Void

    /// Creates a setting that is stored in a property, which keeps its initial value when the setting is missing.
    init<Value: Equatable>(_ key: SettingKey<Value>, _ property: any WritableKeyPath<Owner, Value> & Sendable) {
        declaration = key.declaration
        read = { (object, places, owner) throws(RelayError) in
            if let value = try key.valueIfPresent(in: object, places) { owner[keyPath: property] = value }
        }
        isEqual = { $0[keyPath: property] == $1[keyPath: property] }
        copy = { $1[keyPath: property] = $0[keyPath: property] }
    }

    /// Creates a setting that is stored in an optional property.
    init<Value: Equatable>(_ key: SettingKey<Value>, _ property: any WritableKeyPath<Owner, Value?> & Sendable) {
        declaration = key.declaration
        read = { (object, places, owner) throws(RelayError) in
            owner[keyPath: property] = try key.valueIfPresent(in: object, places)
        }
        isEqual = { $0[keyPath: property] == $1[keyPath: property] }
        copy = { $1[keyPath: property] = $0[keyPath: property] }
    }

    /// Creates a setting that the owner's initializer reads, because several settings make up one property; a reload
    /// changes it.
    init<Value>(separate key: SettingKey<Value>) {
        declaration = key.declaration
        read = { (_, _, _) throws(RelayError) in }
        isEqual = { _, _ in true }
        copy = { _, _ in }
    }

    /// Returns the setting with its purpose, in a sentence without the final stop.
    func help(_ text: String) -> Setting {
        var setting = self
        setting.declaration.help = text
        return setting
    }
}

extension Array {
    /// Reads the settings of an object into their properties.
    func read<Owner>(_ object: ConfigurationField, _ places: ConfigurationDirectories, into owner: inout Owner)
        throws(RelayError)
    where Element == Setting<Owner> {
        for setting in self { try setting.read(object, places, &owner) }
    }

    /// The settings that change only with a restart.
    func changedByRestart<Owner>() -> [Element] where Element == Setting<Owner> {
        filter { $0.declaration.change == .restart }
    }
}
