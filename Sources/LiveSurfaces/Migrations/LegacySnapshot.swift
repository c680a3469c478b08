// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The older versions of the contract.
enum LegacyVersion: String {
    case one = "1"
    case two = "2"
    case three = "3"
    case four = "4"

    /// Converts members of version 4 to the current version.
    ///
    /// Version 4 differs in its number, and in texts that could be empty and must now be absent.
    static func upgradeFromFour(_ members: [JSONValue.Member]) -> JSONValue {
        .object(
            members.map { member in
                switch member.name {
                case "schemaVersion": JSONValue.Member(member.name, .string(SurfaceSnapshot.schemaVersion))
                case "notification":
                    JSONValue.Member(member.name, dropEmpty(["category", "threadId"], from: member.value))
                default: member
                }
            }
        )
    }

    private static func dropEmpty(_ names: Set<String>, from object: JSONValue) -> JSONValue {
        guard let members = object.members else { return object }
        return .object(members.filter { !(names.contains($0.name) && $0.value == .string("")) })
    }
}

/// A snapshot of versions 1 to 3, in which all kinds had the same texts.
struct LegacySnapshot {
    /// The snapshot in the current version, not validated yet.
    let upgraded: JSONValue

    /// Reads a snapshot as strictly as its version required.
    init(
        _ members: [JSONValue.Member],
        _ version: LegacyVersion,
        updatedAt fallback: SurfaceDate?
    ) throws(SurfaceError) {
        var fields = FieldReader(members, categories: .standard)
        let base = Base(reading: &fields, version, updatedAt: fallback)
        let surface = base.surface(reading: &fields, version)
        fields.finish()
        guard fields.issues.isEmpty else { throw SurfaceError(fields.issues) }
        upgraded = .object(of: [
            "schemaVersion": SurfaceSnapshot.schemaVersion, "id": base.id, "surfaceId": base.surfaceID,
            "kind": base.kind.rawValue, "updatedAt": base.updatedAt?.rawValue, "state": base.state.rawValue,
            base.kind.rawValue: surface,
        ])
    }

    /// The members that all snapshots had.
    private struct Base {
        let kind: SurfaceKind
        let id: String
        let surfaceID: String
        let state: SurfaceState
        let modeLabel: String
        let contextLabel: String
        let statusLine: String
        let primaryText: String
        let secondaryText: String
        let actionLabel: String?
        let progress: Double
        let deepLink: String
        let updatedAt: SurfaceDate?
        /// The details that version 1 had for every kind; nil for other versions.
        let details: LiveDetails?

        init(reading fields: inout FieldReader, _ version: LegacyVersion, updatedAt fallback: SurfaceDate?) {
            _ = fields.required("schemaVersion", .literal(version.rawValue))
            kind =
                version == .one
                ? fields.optional("kind", .choice(standIn: .liveActivity), default: .liveActivity)
                : fields.required("kind", .choice(standIn: .liveActivity))
            id = fields.required("id", .nonEmptyText)
            surfaceID = fields.required("surfaceId", .nonEmptyText)
            state = fields.required("state", .choice(standIn: .active))
            modeLabel = fields.required("modeLabel", .nonEmptyText)
            contextLabel = fields.required("contextLabel", .text)
            statusLine = fields.required("statusLine", .text)
            primaryText = fields.required("primaryText", .nonEmptyText)
            secondaryText = fields.required("secondaryText", .text)
            actionLabel = fields.optional("actionLabel", .text)
            progress = fields.required("progress", .fraction)
            deepLink = fields.required("deepLink", .deepLink)
            updatedAt =
                version == .one
                ? fields.optional("updatedAt", .date) ?? fallback : fields.required("updatedAt", .date)
            details = version == .one ? LiveDetails(reading: &fields) : nil
        }

        /// Converts the texts above and the object of the kind to the current content.
        func surface(reading fields: inout FieldReader, _ version: LegacyVersion) -> JSONValue {
            let action = actionLabel?.nonEmpty
            switch kind {
            case .liveActivity:
                let details = details ?? fields.object("liveActivity", LiveDetails.init(reading:))
                return LiveActivitySurface(
                    title: primaryText,
                    body: secondaryText,
                    progress: progress,
                    deepLink: deepLink,
                    modeLabel: modeLabel,
                    contextLabel: contextLabel,
                    statusLine: statusLine,
                    actionLabel: action,
                    stage: details.stage,
                    estimatedSeconds: details.estimatedSeconds,
                    morePartsCount: details.morePartsCount
                ).json
            case .widget:
                return fields.object("widget") { inner in
                    WidgetSurface(
                        title: primaryText,
                        body: secondaryText,
                        progress: progress,
                        deepLink: deepLink,
                        family: inner.optional("family", .choice(standIn: .systemSmall)),
                        reloadPolicy: inner.optional("reloadPolicy", .choice(standIn: .manual))
                    ).json
                }
            case .control:
                let kindName = version == .three ? "controlKind" : "kind"
                return fields.object("control") { inner in
                    ControlSurface(
                        label: action ?? primaryText,
                        deepLink: deepLink,
                        controlKind: inner.required(kindName, .choice(standIn: .toggle)),
                        isOn: inner.optional("state", .flag),
                        intent: inner.optional("intent", .text)?.nonEmpty
                    ).json
                }
            case .lockAccessory:
                return fields.object("lockAccessory") { inner in
                    LockAccessorySurface(
                        title: primaryText,
                        deepLink: deepLink,
                        family: inner.required("family", .choice(standIn: .accessoryInline)),
                        gaugeValue: inner.optional("gaugeValue", .fraction),
                        shortText: inner.optional("shortText", .text(minimum: 0, maximum: 20))?.nonEmpty
                    ).json
                }
            case .standBy:
                return fields.object("standby") { inner in
                    StandBySurface(
                        title: primaryText,
                        body: secondaryText,
                        progress: progress,
                        deepLink: deepLink,
                        presentation: inner.optional("presentation", .choice(standIn: .card), default: .card),
                        tint: inner.optional("tint", .choice(standIn: .default))
                    ).json
                }
            case .notification:
                return fields.object("notification") { inner in
                    NotificationSurface(
                        title: .plain(primaryText),
                        body: .plain(secondaryText),
                        deepLink: deepLink,
                        category: inner.optional("category", .text)?.nonEmpty,
                        threadID: inner.optional("threadId", .text)?.nonEmpty
                    ).json
                }
            }
        }
    }

    /// The members that only Live Activities had.
    private struct LiveDetails {
        let stage: LiveActivityStage
        let estimatedSeconds: Int
        let morePartsCount: Int

        init(reading fields: inout FieldReader) {
            stage = fields.required("stage", .choice(standIn: .prompted))
            estimatedSeconds = fields.required("estimatedSeconds", .count)
            morePartsCount = fields.required("morePartsCount", .count)
        }
    }
}

extension String {
    /// The text; nil if it is empty.
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
