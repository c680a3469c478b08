// SPDX-License-Identifier: Apache-2.0

/// Metrics in the text format 0.0.4 of Prometheus.
package struct MetricSheet: Sendable {
    /// The labels of a data point with their values, in order.
    package typealias Labels = KeyValuePairs<String, String>

    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package private(set) var exposition = ""
    /// The name of the metric that was added last.
    private var name = ""

    /// Creates a snapshot without metrics.
    package init() {}

    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        exposition += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds an integer to the metric that was added last.
    package mutating func add(_ labels: Labels, _ value: some BinaryInteger) {
        write("", MetricSheet.pairs(labels), "\(value)")
    }

    /// Adds a number to the metric that was added last.
    package mutating func add(_ labels: Labels, _ value: Double) {
        write("", MetricSheet.pairs(labels), "\(value)")
    }

    /// Adds a histogram to the metric that was added last.
    package mutating func add(_ labels: Labels, _ histogram: Histogram) {
        let pairs = MetricSheet.pairs(labels)
        var total = 0
        for (index, count) in histogram.counts.enumerated() {
            total += count
            let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
            write("_bucket", pairs + ["le=\"\(bound)\""], "\(total)")
        }
        write("_sum", pairs, "\(histogram.sum)")
        write("_count", pairs, "\(total)")
    }

    package mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some BinaryInteger) {
        family(name, kind, help)
        add([:], value)
    }

    private mutating func write(_ suffix: String, _ pairs: [String], _ value: String) {
        let braces = pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}"
        exposition += "\(name)\(suffix)\(braces) \(value)\n"
    }

    private static func pairs(_ labels: Labels) -> [String] {
        labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
    }
}
