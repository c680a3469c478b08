// SPDX-License-Identifier: Apache-2.0

// The control in Control Center, and the intent that it runs.
#if os(iOS) && canImport(ActivityKit)
    import AppIntents
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

    struct RingBellIntent: SetValueIntent {
        static let title: LocalizedStringResource = "Ring the bell"

        @Parameter(title: "Ring")
        var value: Bool

        func perform() async throws -> some IntentResult {
            appGroup?.set(value, forKey: "ring")
            return .result()
        }
    }

    struct RingBellProvider: ControlValueProvider {
        var previewValue: Bool { false }

        func currentValue() async throws -> Bool {
            await readSnapshots()
            guard case .found(let entry) = storedEntry(of: ControlEntry.self) else { return false }
            return entry.value ?? false
        }
    }

    struct OrderControl: ControlWidget {
        var body: some ControlWidgetConfiguration {
            StaticControlConfiguration(kind: "ring-bell", provider: RingBellProvider()) { isOn in
                ControlWidgetToggle(isOn: isOn, action: RingBellIntent()) {
                    Label("Ring the bell", systemImage: "bell")
                }
            }
            .pushHandler(OrderControlTokens.self)
        }
    }

    /// The widgets of the extension; the app's target marks it with `@main`.
    struct OrderWidgets: WidgetBundle {
        var body: some Widget {
            OrderActivity()
            OrderWidget()
            OrderAccessory()
            OrderControl()
        }
    }
#endif
