internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of localized strings, templates and surfaces, which previews of pushes need.
    static let previewRoutes: [Route] = stringRoutes + templateRoutes + surfaceRoutes

    private static let stringRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/strings", summary: "The languages that apps have strings in") { call in
            let apps = await call.simulator.previews.material.strings.apps.sorted { $0.key < $1.key }
            let tables = apps.flatMap { app, languages in
                languages.sorted { $0.key < $1.key }.map { language, table -> JSONValue in
                    [
                        "app": .string(app), "language": .string(language),
                        "keys": .number(JSONNumber(table.count)),
                    ]
                }
            }
            return .json(["strings": .array(tables)])
        },
        Route(
            method: "PUT",
            path: "/api/v1/strings/{app}",
            summary: "Takes a string catalog (.xcstrings) of an app in place of what there was",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let tables: [String: [String: LocalizedString]]
            do throws(StringCatalogError) {
                tables = try StringCatalog.read(call.body)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(PreviewsFull) in
                try previews.strings.set(tables, of: app)
            }
            return .done
        },
        Route(
            method: "PUT",
            path: "/api/v1/strings/{app}/{language}",
            summary: "Takes a .strings file of an app in one language",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let language = call.arguments["language"] ?? ""
            guard LocalizedTables.isLanguage(language) else {
                throw APIProblem(400, "\(language) is no language: there are en, de, pt-BR, zh-Hans and so on")
            }
            let table: [String: LocalizedString]
            do throws(StringsFileError) {
                table = try StringsFile.read(call.body)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(PreviewsFull) in
                try previews.strings.set(table, language, of: app)
            }
            return .done
        },
        Route(method: "GET", path: "/api/v1/strings/{app}/{language}", summary: "The strings of an app in a language") {
            (call) throws(APIProblem) in
            let language = call.arguments["language"] ?? ""
            let app = try call.app("app")
            guard let table = await call.simulator.previews.material.strings.apps[app]?[language] else {
                throw APIProblem(404, "there are no strings of \(app) in \(language)")
            }
            return .json(.object(table.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }))
        },
        Route(
            method: "DELETE",
            path: "/api/v1/strings/{app}",
            summary: "Forgets the strings of an app",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let app = try call.app("app")
            guard try await call.updatePreviews({ $0.strings.remove(of: app) }) else {
                throw APIProblem(404, "there are no strings of \(app)")
            }
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/strings/{app}/{language}",
            summary: "Forgets those in a language",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let app = try call.app("app")
            let language = call.arguments["language"] ?? ""
            guard try await call.updatePreviews({ $0.strings.remove(language, of: app) }) else {
                throw APIProblem(404, "there are no strings of \(app) in \(language)")
            }
            return .done
        },
    ]

    private static let templateRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/templates", summary: "How Live Activities are laid out in previews") {
            call in
            let templates = await call.simulator.previews.material.templates.sorted {
                ($0.key.app, $0.key.attributesType) < ($1.key.app, $1.key.attributesType)
            }
            return .json([
                "templates": .array(
                    templates.map { name, template -> JSONValue in
                        [
                            "topic": .string(name.app), "attributes-type": .string(name.attributesType),
                            "template": template.json,
                        ]
                    }
                )
            ])
        },
        Route(
            method: "PUT",
            path: "/api/v1/templates/{topic}/{attributes-type}",
            summary: "Lays out Live Activities: texts with paths for lock, island, widget and accessory",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let name = try call.templateName()
            let json = try call.json()
            let template: PreviewTemplate
            do throws(PreviewTemplateError) {
                template = try PreviewTemplate(json: json)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            try await call.updatePreviews { (previews) throws(PreviewsFull) in try previews.set(template, name) }
            return .done
        },
        Route(method: "GET", path: "/api/v1/templates/{topic}/{attributes-type}", summary: "One of these layouts") {
            (call) throws(APIProblem) in
            let name = try call.templateName()
            guard let template = await call.simulator.previews.material.templates[name] else { throw noTemplate(name) }
            return .json(template.json)
        },
        Route(
            method: "DELETE",
            path: "/api/v1/templates/{topic}/{attributes-type}",
            summary: "Forgets a layout",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let name = try call.templateName()
            guard try await call.updatePreviews({ $0.removeTemplate(name) }) else { throw noTemplate(name) }
            return .done
        },
    ]

    private static let surfaceRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/surfaces", summary: "What apps have stored for their surfaces") { call in
            let apps = await call.simulator.previews.material.surfaces.sorted { $0.key < $1.key }
            let surfaces = apps.flatMap { app, stored in
                SurfaceKind.allCases.compactMap { stored[$0]?.json(topic: app) }
            }
            return .json(["surfaces": .array(surfaces)])
        },
        Route(
            method: "PUT",
            path: "/api/v1/surfaces/{topic}/{kind}",
            summary: "Takes a snapshot, or an entry as the app stores it, and tells what the surface gets of it"
        ) { (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            let surface: StoredSurface
            do throws(StoredSurfaceError) {
                surface = try StoredSurface(call.body, kind: kind)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            try await call.updatePreviews { (previews) throws(PreviewsFull) in try previews.set(surface, of: app) }
            return .json(surface.json(topic: app))
        },
        Route(method: "GET", path: "/api/v1/surfaces/{topic}/{kind}", summary: "What an app has stored for a kind") {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            guard let surface = await call.simulator.previews.material.surfaces[app]?[kind] else {
                throw noSurface(kind, app)
            }
            return .json(surface.json(topic: app))
        },
        Route(
            method: "DELETE",
            path: "/api/v1/surfaces/{topic}/{kind}",
            summary: "Forgets it",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            guard try await call.updatePreviews({ $0.removeSurface(kind, of: app) }) else { throw noSurface(kind, app) }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/pushes/{number}/context",
            summary: "What a phone knows besides the push: attributes, template, surfaces, neighbours of its thread"
        ) { (call) throws(APIProblem) in
            let push = try await push(call)
            let pushes = await call.simulator.inbox.pushes
            let devices = await call.simulator.service.judge.devices
            let material = await call.simulator.previews.material
            return .json(PreviewContext(of: push, among: pushes, devices, material).json)
        },
    ]

    private static func noTemplate(_ name: PreviewMaterial.TemplateName) -> APIProblem {
        APIProblem(404, "there is no template for \(name.attributesType) of \(name.app)")
    }

    private static func noSurface(_ kind: SurfaceKind, _ app: String) -> APIProblem {
        APIProblem(404, "\(app) has stored nothing for \(kind.rawValue)")
    }
}

extension APICall {
    /// Returns the bundle identifier in a parameter of the path, which may have the suffix of a topic.
    fileprivate func app(_ name: String) throws(APIProblem) -> String {
        let app = Topic(arguments[name] ?? "").ofApp.rawValue
        guard (1...255).contains(app.utf8.count) else { throw APIProblem(400, "\(name) must have 1 to 255 characters") }
        return app
    }

    fileprivate func templateName() throws(APIProblem) -> PreviewMaterial.TemplateName {
        let type = arguments["attributes-type"] ?? ""
        guard type.utf8.count <= 255 else { throw APIProblem(400, "attributes-type must have 1 to 255 characters") }
        return PreviewMaterial.TemplateName(app: try app("topic"), attributesType: type)
    }

    fileprivate func surfaceKind() throws(APIProblem) -> SurfaceKind {
        let name = arguments["kind"] ?? ""
        guard let kind = SurfaceKind(rawValue: name) else {
            let known = SurfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIProblem(400, "\(name) is no kind of surface; these are: \(known)")
        }
        return kind
    }

    fileprivate func updatePreviews<Value: Sendable>(
        _ change: @Sendable (inout PreviewMaterial) throws(PreviewsFull) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(PreviewsFull) {
            return try await simulator.previews.update(change)
        } catch {
            throw APIProblem(409, "\(error)")
        }
    }
}
