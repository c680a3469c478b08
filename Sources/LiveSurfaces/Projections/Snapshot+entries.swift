extension Snapshot<WidgetSurface> {
    /// What the widget reads from the app group.
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
    /// What the control reads from the app group.
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
    /// What the accessory reads from the app group.
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
    /// What the StandBy view reads from the app group.
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
