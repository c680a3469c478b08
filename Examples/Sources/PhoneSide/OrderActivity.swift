// SPDX-License-Identifier: Apache-2.0

// The Live Activity, on the Lock Screen and in the Dynamic Island.
#if os(iOS) && canImport(ActivityKit)
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

    struct OrderActivity: Widget {
        var body: some WidgetConfiguration {
            ActivityConfiguration(for: SurfaceActivityAttributes.self) { context in
                VStack(alignment: .leading) {
                    Text(context.attributes.modeLabel).font(.caption)
                    Text(context.state.headline).font(.headline)
                    Text(context.state.subhead)
                    ProgressView(value: context.state.progress)
                }
            } dynamicIsland: { context in
                DynamicIsland {
                    DynamicIslandExpandedRegion(.leading) { Text(context.state.headline).font(.headline) }
                    DynamicIslandExpandedRegion(.bottom) { ProgressView(value: context.state.progress) }
                } compactLeading: {
                    Image(systemName: context.state.stage == .completing ? "checkmark" : "shippingbox")
                } compactTrailing: {
                    Text("\(Int(context.state.progress * 100)) %")
                } minimal: {
                    Image(systemName: "shippingbox")
                }
            }
        }
    }
#endif
