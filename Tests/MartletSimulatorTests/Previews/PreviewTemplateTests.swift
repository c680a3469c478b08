// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Martlet
import Testing

@testable import MartletSimulator

@Suite struct PreviewTemplateTests {
    private func template(_ text: String) throws -> PreviewTemplate {
        try PreviewTemplate(json: JSONReader.read(Array(text.utf8)))
    }

    @Test func `texts with paths are taken`() throws {
        let text = #"{"lock":{"title":"{{driver.name}} – {{stops.0}}","progress":"{{done}}"},"island":{"minimal":"5"}}"#
        #expect(try template(text).json.encoded() == Array(text.utf8))
    }

    @Test(arguments: [
        ("[]", "the template: a template must be an object of lock, island, widget, accessory"),
        ("{}", "the template: a template must be an object of lock, island, widget, accessory"),
        (#"{"watch": {}}"#, "watch: a template must be an object of lock, island, widget, accessory"),
        (#"{"lock": {}}"#, "lock: a surface must be an object of title, subtitle, trailing, bottom, progress"),
        (
            #"{"lock": {"body": "x"}}"#,
            "lock.body: a surface must be an object of title, subtitle, trailing, bottom, progress"
        ),
        (#"{"lock": {"title": 3}}"#, "lock.title: must be a string, as in \"{{driver.name}}\""),
        (#"{"lock": {"title": "{{a"}}"#, "lock.title: {{ is not closed by }}"),
        (
            #"{"lock": {"title": "{{a..b}}"}}"#,
            "lock.title: {{a..b}} must be a path of at most 16 names separated by periods, as in {{driver.name}}"
                + " or {{stops.0}}"
        ),
        (
            #"{"lock": {"mrt_short": "x"}}"#,
            "lock.text of 9 characters (not shown, as it may be a secret): a surface must be an object of title,"
                + " subtitle, trailing, bottom, progress"
        ),
        (
            #"{"lock": {"title": "{{mrt_short{}}"}}"#,
            "lock.title: {{text of 10 characters (not shown, as it may be a secret)}} must be a path of at most 16"
                + " names separated by periods, as in {{driver.name}} or {{stops.0}}"
        ),
        (
            #"{"lock": {"title": "{{}}"}}"#,
            "lock.title: {{}} must be a path of at most 16 names separated by periods, as in {{driver.name}}"
                + " or {{stops.0}}"
        ),
    ])
    func `an error has its place and rule`(text: String, message: String) {
        let error = #expect(throws: SimulatorError.self) { try template(text) }
        #expect(error?.description == message)
    }

    @Test func `texts and paths have bounds`() {
        let long = String(repeating: "x", count: 501)
        #expect(throws: SimulatorError("lock.title: is longer than 500 bytes")) {
            try PreviewTemplate(json: ["lock": ["title": .string(long)]])
        }
        let deep = Array(repeating: "a", count: 17).joined(separator: ".")
        let rule = "must be a path of at most 16 names separated by periods, as in {{driver.name}} or {{stops.0}}"
        #expect(throws: SimulatorError("lock.title: {{\(deep)}} \(rule)")) {
            try PreviewTemplate(json: ["lock": ["title": .string("{{\(deep)}}")]])
        }
    }

    @Test func `the number of templates is limited, and templates can be replaced`() throws {
        var material = PreviewData()
        let template = try PreviewTemplate(json: ["lock": ["title": "x"]])
        for number in 0..<PreviewData.templateLimit {
            try material.set(template, .init(app: "com.example.app", attributesType: "Type\(number)"))
        }
        #expect(throws: SimulatorError.self) {
            try material.set(template, .init(app: "other", attributesType: "Type"))
        }
        try material.set(template, .init(app: "com.example.app", attributesType: "Type0"))
        var tables = LocalizedTables()
        let large = ["key": LocalizedString.plain(String(repeating: "x", count: LocalizedTables.byteLimit - 3))]
        try tables.set(large, "de", of: "com.example.app")
        try tables.set(large, "de", of: "com.example.app")
        #expect(throws: SimulatorError.self) { try tables.set(["a": .plain("b")], "en", of: "com.example.app") }
        #expect(tables.apps["com.example.app"]?.keys.sorted() == ["de"])
    }
}

@Suite struct StoredSurfaceTests {
    @Test(arguments: SurfaceKind.allCases)
    func `a snapshot of every kind has its projections`(kind: SurfaceKind) throws {
        let snapshot = SurfaceSnapshot.example(of: kind)
        #expect(try StoredSurface(snapshot.json.encoded(), kind: kind).projections == snapshot.projections)
    }

    @Test(arguments: [SurfaceKind.widget, .control, .lockAccessory, .standBy])
    func `an entry is taken as the app stores it`(kind: SurfaceKind) throws {
        let projections = SurfaceSnapshot.example(of: kind).projections
        let entry = try #require(projections.first?.value)
        #expect(try StoredSurface(entry.encoded(), kind: kind).projections == projections)
    }

    @Test func `entries of another kind and invalid ones are refused with the reason`() throws {
        let widget = SurfaceSnapshot.example(of: .widget)
        let entry = try #require(widget.projections.first?.value)
        for (bytes, kind, reason) in [
            (widget.json.encoded(), SurfaceKind.control, "got widget"), (entry.encoded(), .standBy, "cannot decode"),
            (entry.encoded(), .notification, "stores no entries for notification"), ([], .widget, "ends too early"),
            (Array(#"{"kind":"widget"}"#.utf8), .widget, "schemaVersion"),
            (Array(#"{"snapshotId":"a","schemaVersion":"9"}"#.utf8), .widget, "version 9, not 5"),
        ] {
            let error = #expect(throws: SimulatorError.self) { try StoredSurface(bytes, kind: kind) }
            #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        }
    }

    @Test func `a template of no known type needs content with its values`() throws {
        let json = #"{"lock":{"title":"{{driver.name}}","trailing":"{{stops.0}} of {{attributes.line}}"}}"#
        let template = try PreviewTemplate(json: JSONReader.read(Array(json.utf8)))
        var data = PreviewData()
        try data.set(template, PreviewData.TemplateName(app: "app", attributesType: "Ride"))
        func type(_ attributesType: String?, _ state: String, of app: String = "app") throws -> String? {
            let state = try JSONReader.read(Array(state.utf8))
            return data.template(of: app, attributesType: attributesType, contentState: state)?.attributesType
        }
        let ride = #"{"driver":{"name":"Kim"},"stops":["Zoo"]}"#
        #expect(try type(nil, ride) == "Ride" && type("Ride", #"{"n":1}"#) == "Ride")
        #expect(try type(nil, #"{"driver":{"name":"Kim"},"stops":[]}"#) == nil && type(nil, #"{"n":1}"#) == nil)
        #expect(try type("Order", ride) == nil && type(nil, ride, of: "other") == nil)
    }
}
