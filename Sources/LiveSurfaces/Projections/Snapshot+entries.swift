// SPDX-License-Identifier: Apache-2.0

extension Snapshot<WidgetSurface> {
    /// The entry for the widget, stored in the app group.
    public var entry: WidgetEntry {
        WidgetEntry(
            schemaVersion: SurfaceSnapshot.schemaVersion,
            kind: kind,
            snapshotId: id,
            surfaceId: surfaceID,
            state: state,
            family: surface.family,
            reloadPolicy: surface.reloadPolicy,
            headline: surface.title,
            subhead: surface.body,
            progress: surface.progress,
            deepLink: surface.deepLink
        )
    }
}

extension Snapshot<ControlSurface> {
    /// The entry for the control, stored in the app group.
    public var entry: ControlEntry {
        ControlEntry(
            schemaVersion: SurfaceSnapshot.schemaVersion,
            kind: kind,
            snapshotId: id,
            surfaceId: surfaceID,
            controlKind: surface.controlKind,
            value: surface.isOn,
            intent: surface.intent,
            label: surface.label,
            deepLink: surface.deepLink
        )
    }
}

extension Snapshot<LockAccessorySurface> {
    /// The entry for the accessory, stored in the app group.
    public var entry: LockAccessoryEntry {
        LockAccessoryEntry(
            schemaVersion: SurfaceSnapshot.schemaVersion,
            kind: kind,
            snapshotId: id,
            surfaceId: surfaceID,
            state: state,
            family: surface.family,
            headline: surface.title,
            shortText: surface.shortText,
            gaugeValue: surface.gaugeValue,
            deepLink: surface.deepLink
        )
    }
}

extension Snapshot<StandBySurface> {
    /// The entry for the StandBy view, stored in the app group.
    public var entry: StandByEntry {
        StandByEntry(
            schemaVersion: SurfaceSnapshot.schemaVersion,
            kind: kind,
            snapshotId: id,
            surfaceId: surfaceID,
            state: state,
            presentation: surface.presentation,
            tint: surface.tint,
            headline: surface.title,
            subhead: surface.body,
            progress: surface.progress,
            deepLink: surface.deepLink
        )
    }
}
