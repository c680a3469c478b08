// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SettingType where Value == TimeOfDay {
    /// A time of day in hours and minutes.
    static let timeOfDay = SettingType(
        "time of day, such as `22:00`",
        schema: ["type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"]
    ) { (field, _) throws(RelayError) in
        guard let time = field.value?.stringValue.flatMap({ TimeOfDay($0) }) else {
            throw field.mismatch("a time of day from 00:00 to 23:59")
        }
        return time
    }
}

extension SettingType where Value == Zone {
    /// A time zone of the IANA database.
    static let zone = SettingType(
        "IANA time zone",
        schema: ["type": "string", "minLength": 1],
        json: { .string($0.name) },
        read: { (field, _) throws(RelayError) in try Zone.read(field) }
    )
}
