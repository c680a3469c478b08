// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of localized strings, templates and surfaces, which previews of pushes need.
    static let previewRoutes: [Route] = stringRoutes + templateRoutes + surfaceRoutes

    private static let stringRoutes: [Route] = [
        Route("GET", "/api/v1/strings", "List the languages of the localized strings of apps") { call in
            let apps = await call.simulator.previews.data.strings.apps.sorted { $0.key < $1.key }
            let tables = apps.flatMap { app, languages in
                languages.sorted { $0.key < $1.key }.map { language, table -> JSONValue in
                    ["app": .string(app), "language": .string(language), "keys": .integer(table.count)]
                }
            }
            return .json(["strings": .array(tables)])
        },
        Route.action(
            "PUT",
            "/api/v1/strings/{app}",
            "Set the localized strings of an app from a string catalog (.xcstrings)"
        ) { (call) throws(APIProblem) in
            let tables = try APIProblem.wrapping { try StringCatalog.read(call.body) }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(SimulatorError) in
                try previews.strings.set(tables, of: app)
            }
        },
        Route.action(
            "PUT",
            "/api/v1/strings/{app}/{language}",
            "Set the localized strings of an app in one language from a .strings file"
        ) { (call) throws(APIProblem) in
            let language = call.argument("language")
            guard LocalizedTables.isLanguage(language) else {
                throw APIProblem(400, "\(ShownValue(language)) is not a language tag such as en, de, pt-BR or zh-Hans")
            }
            let table = try APIProblem.wrapping { try StringsFile.read(call.body) }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(SimulatorError) in
                try previews.strings.set(table, language, of: app)
            }
        },
        Route("GET", "/api/v1/strings/{app}/{language}", "Get the localized strings of an app in one language") {
            (call) throws(APIProblem) in
            let (app, language) = (try call.app("app"), call.argument("language"))
            guard let table = await call.simulator.previews.data.strings.apps[app]?[language] else {
                throw .missing("there are no strings of \(ShownValue(app)) in \(ShownValue(language))")
            }
            return .json(.object(table.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }))
        },
        Route.action("DELETE", "/api/v1/strings/{app}", "Remove the localized strings of an app") {
            (call) throws(APIProblem) in
            let app = try call.app("app")
            guard try await call.updatePreviews({ $0.strings.remove(of: app) }) else {
                throw .missing("there are no strings of \(ShownValue(app))")
            }
        },
        Route.action(
            "DELETE",
            "/api/v1/strings/{app}/{language}",
            "Remove the localized strings of an app in one language"
        ) {
            (call) throws(APIProblem) in
            let (app, language) = (try call.app("app"), call.argument("language"))
            guard try await call.updatePreviews({ $0.strings.remove(language, of: app) }) else {
                throw .missing("there are no strings of \(ShownValue(app)) in \(ShownValue(language))")
            }
        },
    ]

    private static let templateRoutes: [Route] = [
        Route("GET", "/api/v1/templates", "List the templates of Live Activities") { call in
            let templates = await call.simulator.previews.data.templates.sorted {
                ($0.key.app, $0.key.attributesType) < ($1.key.app, $1.key.attributesType)
            }
            let list = templates.map { name, template -> JSONValue in
                let type = JSONValue.string(name.attributesType)
                return ["topic": .string(name.app), "attributes-type": type, "template": template.json]
            }
            return .json(["templates": .array(list)])
        },
        Route.action(
            "PUT",
            "/api/v1/templates/{topic}/{attributes-type}",
            "Set the template of a type of Live Activities: strings with paths for each surface"
        ) { (call) throws(APIProblem) in
            let name = try call.templateName()
            let json = try call.json()
            let template = try APIProblem.wrapping { try PreviewTemplate(json: json) }
            try await call.updatePreviews { (previews) throws(SimulatorError) in try previews.set(template, name) }
        },
        Route("GET", "/api/v1/templates/{topic}/{attributes-type}", "Get the template of a type of Live Activities") {
            (call) throws(APIProblem) in
            let name = try call.templateName()
            guard let template = await call.simulator.previews.data.templates[name] else { throw templateMissing(name) }
            return .json(template.json)
        },
        Route.action(
            "DELETE",
            "/api/v1/templates/{topic}/{attributes-type}",
            "Remove the template of a type of Live Activities"
        ) { (call) throws(APIProblem) in
            let name = try call.templateName()
            guard try await call.updatePreviews({ $0.removeTemplate(name) }) else { throw templateMissing(name) }
        },
    ]

    private static let surfaceRoutes: [Route] = [
        Route("GET", "/api/v1/surfaces", "List the stored data of surfaces") { call in
            let apps = await call.simulator.previews.data.surfaces.sorted { $0.key < $1.key }
            let surfaces = apps.flatMap { app, stored in
                SurfaceKind.allCases.compactMap { stored[$0]?.json(topic: app) }
            }
            return .json(["surfaces": .array(surfaces)])
        },
        Route(
            "PUT",
            "/api/v1/surfaces/{topic}/{kind}",
            "Store a snapshot or an entry of an app, and get the data of each part of the surface"
        ) { (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try SurfaceKind.named(call.argument("kind")))
            let surface = try APIProblem.wrapping { try StoredSurface(call.body, kind: kind) }
            try await call.updatePreviews { (previews) throws(SimulatorError) in try previews.set(surface, of: app) }
            return .json(surface.json(topic: app))
        },
        Route("GET", "/api/v1/surfaces/{topic}/{kind}", "Get the stored data of a kind of surface") {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try SurfaceKind.named(call.argument("kind")))
            guard let surface = await call.simulator.previews.data.surfaces[app]?[kind] else {
                throw surfaceMissing(kind, app)
            }
            return .json(surface.json(topic: app))
        },
        Route.action("DELETE", "/api/v1/surfaces/{topic}/{kind}", "Remove the stored data of a kind of surface") {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try SurfaceKind.named(call.argument("kind")))
            guard try await call.updatePreviews({ $0.removeSurface(kind, of: app) }) else {
                throw surfaceMissing(kind, app)
            }
        },
        Route(
            "GET",
            "/api/v1/pushes/{number}/context",
            "Get the data for a preview besides the push: attributes, template, surfaces, thread"
        ) { (call) throws(APIProblem) in
            let push = try await push(call)
            let pushes = await call.simulator.inbox.pushes
            let devices = await call.simulator.service.evaluator.devices
            let data = await call.simulator.previews.data
            return .json(PreviewContext(of: push, among: pushes, devices, data).json)
        },
    ]

    private static func templateMissing(_ name: PreviewData.TemplateName) -> APIProblem {
        .missing("there is no template for \(ShownValue(name.attributesType)) of \(ShownValue(name.app))")
    }

    private static func surfaceMissing(_ kind: SurfaceKind, _ app: String) -> APIProblem {
        .missing("there is no stored data of \(ShownValue(app)) for \(kind.rawValue)")
    }
}

extension APICall {
    /// Returns the bundle identifier in a parameter of the path, which may have the suffix of a topic.
    fileprivate func app(_ name: String) throws(APIProblem) -> String {
        let app = Topic(argument(name)).bundleIdentifier
        guard (1...255).contains(app.utf8.count) else { throw APIProblem(400, "\(name) must have 1 to 255 characters") }
        return app
    }

    fileprivate func templateName() throws(APIProblem) -> PreviewData.TemplateName {
        let type = argument("attributes-type")
        guard type.utf8.count <= 255 else { throw APIProblem(400, "attributes-type must have 1 to 255 characters") }
        return PreviewData.TemplateName(app: try app("topic"), attributesType: type)
    }

    fileprivate func updatePreviews<Value: Sendable>(
        _ change: @Sendable (inout PreviewData) throws(SimulatorError) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(SimulatorError) {
            return try await simulator.previews.update(change)
        } catch {
            throw APIProblem(409, "\(error)")
        }
    }
}

extension SurfaceKind {
    fileprivate static func named(_ name: String) throws(APIProblem) -> SurfaceKind {
        guard let kind = SurfaceKind(rawValue: name) else {
            let known = allCases.map(\.rawValue).joined(separator: ", ")
            throw APIProblem(400, "unknown kind of surface \(ShownValue(name)); known: \(known)")
        }
        return kind
    }
}
