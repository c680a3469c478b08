// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Testing

/// Tests of decoding on the phone.
@Suite struct SurfaceStorageTests {
    @Test func `an entry is decoded as it was written`() throws {
        guard case .widget(let snapshot) = SurfaceSnapshot.example(of: .widget) else { return }
        #expect(StoredEntry<WidgetEntry>(snapshot.entry.json.text) == .found(snapshot.entry))
    }

    @Test func `an entry of another kind of surface is unreadable`() throws {
        guard case .standBy(let snapshot) = SurfaceSnapshot.example(of: .standBy) else { return }
        guard case .unreadable(let reason) = StoredEntry<WidgetEntry>(snapshot.entry.json.text) else {
            Issue.record("a StandBy entry was taken for a widget's")
            return
        }
        #expect(reason.contains("standby"))
    }

    @Test func `an unknown version differs from an entry without fields`() throws {
        #expect(StoredEntry<WidgetEntry>(nil) == .empty)
        #expect(StoredEntry<WidgetEntry>(#"{"schemaVersion":"6","new":true}"#) == .otherVersion("6"))
        guard case .unreadable = StoredEntry<WidgetEntry>(#"{"schemaVersion":"5"}"#) else {
            Issue.record("an entry without fields was decoded")
            return
        }
    }

    @Test func `the attributes and the state are decoded as they were sent`() throws {
        let snapshot = try SurfaceSnapshot.example(of: .liveActivity).asLiveActivity()
        let state = try JSONDecoder().decode(
            SurfaceActivityAttributes.ContentState.self,
            from: Data(snapshot.contentState.json.encoded())
        )
        #expect(state == snapshot.contentState)
        let attributes = try JSONDecoder().decode(
            SurfaceActivityAttributes.self,
            from: Data(snapshot.attributes.json.encoded())
        )
        #expect(attributes == snapshot.attributes)
    }

    @Test(arguments: ["payload", "alertPayload"]) func `the app decodes the sidecar beside aps`(name: String) throws {
        struct UserInfo: Decodable {
            let liveSurface: SurfaceSidecar
        }
        let payload =
            name == "payload"
            ? try SurfaceSnapshot.example(of: .notification).asNotification().payload
            : try SurfaceSnapshot.example(of: .liveActivity).asLiveActivity().alertPayload
        let sidecar = try JSONDecoder().decode(UserInfo.self, from: Data(payload.encoded())).liveSurface
        #expect(sidecar.schemaVersion == SurfaceSnapshot.schemaVersion)
        #expect(sidecar.deepLink == "shop://orders/17")
    }

    @Test func `keys of the app group are those that apps already use`() {
        #expect(SurfaceStorage.writtenAtKey(for: "a") == "surface.snapshot.a.writtenAt")
        #expect(SurfaceStorage.decodeErrorKey(for: "a") == "surface.snapshot.a.decodeError")
        #expect(SurfaceStorage.currentSurfaceKey(for: .standBy) == "surface.standby.currentSurfaceId")
    }
}
