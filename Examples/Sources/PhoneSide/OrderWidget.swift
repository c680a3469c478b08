// SPDX-License-Identifier: Apache-2.0

// The widget on the Home Screen and the accessory on the Lock Screen.
#if os(iOS) && canImport(ActivityKit)
    import Foundation
    import LiveSurfaces
    import SwiftUI
    import WidgetKit

    /// The stored entry of a surface, as a timeline shows it.
    struct StoredTimelineEntry<Entry: SurfaceEntry>: TimelineEntry {
        let date: Date
        let stored: StoredEntry<Entry>
    }

    /// A timeline of one entry: the app reloads it when a push has stored another, and a push of the type widgets does.
    struct StoredEntryProvider<Surface: SurfaceEntry>: TimelineProvider {
        func placeholder(in context: Context) -> StoredTimelineEntry<Surface> {
            StoredTimelineEntry(date: .now, stored: .empty)
        }

        func getSnapshot(in context: Context, completion: @escaping @Sendable (StoredTimelineEntry<Surface>) -> Void) {
            completion(StoredTimelineEntry(date: .now, stored: storedEntry()))
        }

        func getTimeline(
            in context: Context,
            completion: @escaping @Sendable (Timeline<StoredTimelineEntry<Surface>>) -> Void
        ) {
            Task {
                await readSnapshots()
                completion(Timeline(entries: [StoredTimelineEntry(date: .now, stored: storedEntry())], policy: .never))
            }
        }
    }

    struct OrderWidget: Widget {
        var body: some WidgetConfiguration {
            StaticConfiguration(kind: "order", provider: StoredEntryProvider<WidgetEntry>()) { entry in
                OrderWidgetView(stored: entry.stored).containerBackground(Color.clear, for: .widget)
            }
            .configurationDisplayName("Order")
            .supportedFamilies([.systemSmall, .systemMedium])
            .reportingToken()
        }
    }

    struct OrderWidgetView: View {
        let stored: StoredEntry<WidgetEntry>

        var body: some View {
            switch stored {
            case .found(let entry):
                VStack(alignment: .leading) {
                    Text(entry.headline).font(.headline)
                    Text(entry.subhead)
                    ProgressView(value: entry.progress)
                }
                .widgetURL(URL(string: entry.deepLink))
            case .otherVersion: Text("Open the app to update this widget.")
            case .empty, .unreadable: Text("No order.")
            }
        }
    }

    struct OrderAccessory: Widget {
        var body: some WidgetConfiguration {
            StaticConfiguration(kind: "order-accessory", provider: StoredEntryProvider<LockAccessoryEntry>()) { entry in
                if case .found(let accessory) = entry.stored {
                    Gauge(value: accessory.gaugeValue ?? 0) {
                        Text(accessory.headline)
                    } currentValueLabel: {
                        Text(accessory.shortText ?? accessory.headline)
                    }
                } else {
                    Image(systemName: "shippingbox")
                }
            }
            .supportedFamilies([.accessoryCircular])
        }
    }
#endif
