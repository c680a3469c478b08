/// A snapshot of metrics.
///
/// Names and labels are those of Prometheus; names of OpenTelemetry are derived from them where none is given.
package struct MetricSheet: Sendable {
    /// The labels with their values, in order; a label with a dot is an attribute of OpenTelemetry's conventions.
    package typealias Labels = KeyValuePairs<String, String>

    /// The kind of a metric.
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    /// The value of a data point: a number or a histogram.
    package enum Value: Sendable {
        case whole(Int64)
        case fraction(Double)
        case histogram(Histogram)
    }

    /// A data point of a metric.
    package struct Point: Sendable {
        /// The labels of the data point.
        package let labels: Labels
        /// The value of the data point.
        package let value: Value
    }

    /// A metric with its data points.
    package struct Family: Sendable {
        /// The name in Prometheus.
        package let name: String
        /// The kind of the metric.
        package let kind: Kind
        /// The description of the metric.
        package let help: String
        /// The name in OpenTelemetry; nil to derive it from the name in Prometheus.
        package let openTelemetryName: String?
        /// The data points, in the order in which they were added.
        package fileprivate(set) var points: [Point] = []
    }

    /// The metrics, in the order in which they were added.
    package private(set) var families: [Family] = []

    /// Creates a snapshot without metrics.
    package init() {}

    /// Adds a metric.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String, openTelemetry: String? = nil) {
        families.append(Family(name: name, kind: kind, help: help, openTelemetryName: openTelemetry))
    }

    /// Adds an integer to the metric that was added last.
    package mutating func add(_ labels: Labels, _ value: some BinaryInteger) {
        add(Point(labels: labels, value: .whole(Int64(clamping: value))))
    }

    /// Adds a number to the metric that was added last.
    package mutating func add(_ labels: Labels, _ value: Double) {
        add(Point(labels: labels, value: .fraction(value)))
    }

    /// Adds a histogram to the metric that was added last.
    package mutating func add(_ labels: Labels, _ histogram: Histogram) {
        add(Point(labels: labels, value: .histogram(histogram)))
    }

    /// Adds a metric with a single value.
    package mutating func single(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        openTelemetry: String? = nil,
        _ value: some BinaryInteger
    ) {
        family(name, kind, help, openTelemetry: openTelemetry)
        add([:], value)
    }

    private mutating func add(_ point: Point) {
        families[families.count - 1].points.append(point)
    }
}

/// The text format 0.0.4 of Prometheus.
extension MetricSheet {
    /// The metrics as text.
    package var exposition: String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for point in family.points { MetricSheet.write(point, of: family.name, into: &text) }
        }
        return text
    }

    private static func write(_ point: Point, of name: String, into text: inout String) {
        let pairs = pairs(point.labels)
        let braces = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        switch point.value {
        case .whole(let value): text += "\(name)\(braces) \(value)\n"
        case .fraction(let value): text += "\(name)\(braces) \(value)\n"
        case .histogram(let histogram):
            var total = 0
            for (index, count) in histogram.counts.enumerated() {
                total += count
                let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
                let all = (pairs + ["le=\"\(bound)\""]).joined(separator: ",")
                text += "\(name)_bucket{\(all)} \(total)\n"
            }
            text += "\(name)_sum\(braces) \(histogram.sum)\n\(name)_count\(braces) \(total)\n"
        }
    }

    private static func pairs(_ labels: Labels) -> [String] {
        labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name.replacing(".", with: "_"))=\"\(escaped)\""
        }
    }
}
