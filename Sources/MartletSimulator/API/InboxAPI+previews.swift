internal import LiveSurfaces
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of localized strings, templates and surfaces, which previews of pushes need.
    static let previewRoutes: [Route] = stringRoutes + templateRoutes + surfaceRoutes

    private static let stringRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/strings", summary: "List the languages of the localized strings of apps") {
            call in
            let apps = await call.simulator.previews.data.strings.apps.sorted { $0.key < $1.key }
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
            summary: "Set the localized strings of an app from a string catalog (.xcstrings)",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let tables: [String: [String: LocalizedString]]
            do throws(StringCatalogError) {
                tables = try StringCatalog.read(call.body)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(PreviewLimitError) in
                try previews.strings.set(tables, of: app)
            }
            return .done
        },
        Route(
            method: "PUT",
            path: "/api/v1/strings/{app}/{language}",
            summary: "Set the localized strings of an app in one language from a .strings file",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let language = call.arguments["language"] ?? ""
            guard LocalizedTables.isLanguage(language) else {
                throw APIProblem(400, "\(language) is not a language tag such as en, de, pt-BR or zh-Hans")
            }
            let table: [String: LocalizedString]
            do throws(StringsFileError) {
                table = try StringsFile.read(call.body)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            let app = try call.app("app")
            try await call.updatePreviews { (previews) throws(PreviewLimitError) in
                try previews.strings.set(table, language, of: app)
            }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/strings/{app}/{language}",
            summary: "Get the localized strings of an app in one language"
        ) {
            (call) throws(APIProblem) in
            let language = call.arguments["language"] ?? ""
            let app = try call.app("app")
            guard let table = await call.simulator.previews.data.strings.apps[app]?[language] else {
                throw APIProblem(404, "there are no strings of \(app) in \(language)")
            }
            return .json(.object(table.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }))
        },
        Route(
            method: "DELETE",
            path: "/api/v1/strings/{app}",
            summary: "Remove the localized strings of an app",
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
            summary: "Remove the localized strings of an app in one language",
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
        Route(method: "GET", path: "/api/v1/templates", summary: "List the templates of Live Activities") {
            call in
            let templates = await call.simulator.previews.data.templates.sorted {
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
            summary:
                "Set the template of a type of Live Activities: strings with paths for each surface",
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
            try await call.updatePreviews { (previews) throws(PreviewLimitError) in try previews.set(template, name) }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/templates/{topic}/{attributes-type}",
            summary: "Get the template of a type of Live Activities"
        ) {
            (call) throws(APIProblem) in
            let name = try call.templateName()
            guard let template = await call.simulator.previews.data.templates[name] else { throw templateMissing(name) }
            return .json(template.json)
        },
        Route(
            method: "DELETE",
            path: "/api/v1/templates/{topic}/{attributes-type}",
            summary: "Remove the template of a type of Live Activities",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let name = try call.templateName()
            guard try await call.updatePreviews({ $0.removeTemplate(name) }) else { throw templateMissing(name) }
            return .done
        },
    ]

    private static let surfaceRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/surfaces", summary: "List the stored data of surfaces") { call in
            let apps = await call.simulator.previews.data.surfaces.sorted { $0.key < $1.key }
            let surfaces = apps.flatMap { app, stored in
                SurfaceKind.allCases.compactMap { stored[$0]?.json(topic: app) }
            }
            return .json(["surfaces": .array(surfaces)])
        },
        Route(
            method: "PUT",
            path: "/api/v1/surfaces/{topic}/{kind}",
            summary: "Store a snapshot or an entry of an app, and get the data of each part of the surface"
        ) { (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            let surface: StoredSurface
            do throws(StoredSurfaceError) {
                surface = try StoredSurface(call.body, kind: kind)
            } catch {
                throw APIProblem(400, "\(error)")
            }
            try await call.updatePreviews { (previews) throws(PreviewLimitError) in try previews.set(surface, of: app) }
            return .json(surface.json(topic: app))
        },
        Route(
            method: "GET",
            path: "/api/v1/surfaces/{topic}/{kind}",
            summary: "Get the stored data of a kind of surface"
        ) {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            guard let surface = await call.simulator.previews.data.surfaces[app]?[kind] else {
                throw surfaceMissing(kind, app)
            }
            return .json(surface.json(topic: app))
        },
        Route(
            method: "DELETE",
            path: "/api/v1/surfaces/{topic}/{kind}",
            summary: "Remove the stored data of a kind of surface",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let (app, kind) = (try call.app("topic"), try call.surfaceKind())
            guard try await call.updatePreviews({ $0.removeSurface(kind, of: app) }) else {
                throw surfaceMissing(kind, app)
            }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/pushes/{number}/context",
            summary:
                "Get the data for a preview besides the push: attributes, template, surfaces, thread"
        ) { (call) throws(APIProblem) in
            let push = try await push(call)
            let pushes = await call.simulator.inbox.pushes
            let devices = await call.simulator.service.judge.devices
            let data = await call.simulator.previews.data
            return .json(PreviewContext(of: push, among: pushes, devices, data).json)
        },
    ]

    private static func templateMissing(_ name: PreviewData.TemplateName) -> APIProblem {
        APIProblem(404, "there is no template for \(name.attributesType) of \(name.app)")
    }

    private static func surfaceMissing(_ kind: SurfaceKind, _ app: String) -> APIProblem {
        APIProblem(404, "there is no stored data of \(app) for \(kind.rawValue)")
    }
}

extension APICall {
    /// Returns the bundle identifier in a parameter of the path, which may have the suffix of a topic.
    fileprivate func app(_ name: String) throws(APIProblem) -> String {
        let app = Topic(arguments[name] ?? "").ofApp.rawValue
        guard (1...255).contains(app.utf8.count) else { throw APIProblem(400, "\(name) must have 1 to 255 characters") }
        return app
    }

    fileprivate func templateName() throws(APIProblem) -> PreviewData.TemplateName {
        let type = arguments["attributes-type"] ?? ""
        guard type.utf8.count <= 255 else { throw APIProblem(400, "attributes-type must have 1 to 255 characters") }
        return PreviewData.TemplateName(app: try app("topic"), attributesType: type)
    }

    fileprivate func surfaceKind() throws(APIProblem) -> SurfaceKind {
        let name = arguments["kind"] ?? ""
        guard let kind = SurfaceKind(rawValue: name) else {
            let known = SurfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIProblem(400, "unknown kind of surface \(name); known: \(known)")
        }
        return kind
    }

    fileprivate func updatePreviews<Value: Sendable>(
        _ change: @Sendable (inout PreviewData) throws(PreviewLimitError) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(PreviewLimitError) {
            return try await simulator.previews.update(change)
        } catch {
            throw APIProblem(409, "\(error)")
        }
    }
}
