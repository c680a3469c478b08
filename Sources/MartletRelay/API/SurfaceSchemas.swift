// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox

/// The JSON Schemas of the routes for surfaces.
enum SurfaceSchemas {
    private static let kinds = JSONValue.strings(SurfaceKind.allCases.map(\.rawValue))
    private static let states = JSONValue.strings(SurfaceAccount.State.allCases.map(\.rawValue))
    private static let reasons = JSONValue.strings(ActivitySession.Absence.allCases.map(\.rawValue))

    /// The members of a request that are also in the answer to `GET` of a surface.
    private static let content = #"""
        "snapshots": {
          "type": "array", "minItems": 1, "maxItems": \#(SurfaceKind.allCases.count),
          "items": {"type": "object", "required": ["kind", "surfaceId"],
            "description": "A snapshot with the surfaceId of the path; see `martlet surface schema`"},
          "description": "What the phones shall show: at most one snapshot of each kind"},
        "priority": {"enum": [10, 5], "default": 10,
          "description": "10 for a change that matters to the user now, 5 for one that can wait"},
        "attributes-type": {"type": "string", "pattern": "^[!-~]{1,128}$",
          "description": "The app's type of attributes of the Live Activity; SurfaceActivityAttributes by default"},
        "control": {"type": "string", "pattern": "^[!-~]{1,128}$",
          "description": "The kind of the control, whose token gets a push that reloads it"},
        "channel": {
          "type": "object", "additionalProperties": false, "required": ["id"],
          "description": "The broadcast channel that Live Activities join when they are started, if the phone can",
          "properties": {
            "id": {"type": "string", "minLength": 1},
            "message-storage-policy": {"enum": [0, 1], "default": 0,
              "description": "As the channel was created: 1 if Apple stores the most recent broadcast"},
            "environment": {"enum": ["production", "development"], "description": "The app's first by default"},
            "bundle-id": {"type": "string", "minLength": 1, "description": "The app's first by default"}
          }
        }
        """#

    private static let endsAt = #"""
        "ends-at": {"type": "integer", "minimum": 0, "maximum": \#(PushRequest.latestSecond),
          "description": "The time in seconds since 1970 at which the surface is withdrawn; absent for never"}
        """#

    /// The members of an audience, which names no token, because a surface needs tokens of several kinds.
    private static let audience = #"""
        {"allOf": [{"$ref": "#/components/schemas/Audience"}], "not": {"anyOf": [
          {"required": ["activity"]}, {"required": ["control"]}]}}
        """#

    static let text = #"""
        {
          "SurfaceRequest": {
            "type": "object", "additionalProperties": false, "required": ["to", "snapshots"],
            "description": "The phones of an audience, and what they shall show",
            "properties": {
              "to": \#(audience),
              \#(content),
              \#(endsAt)
            }
          },
          "Surface": {
            "type": "object",
            "required": ["id", "app", "caller", "state", "revision", "spreading", "created-at", "changed-at"],
            "properties": {
              "id": {"$ref": "#/components/schemas/SurfaceID"},
              "app": {"type": "string"},
              "caller": {"type": "string", "description": "The name of the caller that stored it last"},
              "state": {"enum": ["desired", "withdrawn"]},
              "revision": {"type": "integer",
                "description": "Increases with each change, also when the surface is withdrawn"},
              "spreading": {"type": "boolean",
                "description": "Whether phones of the audience may not have been considered since the last change"},
              "to": {"$ref": "#/components/schemas/Audience",
                "description": "Users only for a key that also has the scope installations"},
              \#(endsAt),
              "created-at": {"$ref": "#/components/schemas/Milliseconds"},
              "changed-at": {"$ref": "#/components/schemas/Milliseconds"},
              "withdrawn-at": {"$ref": "#/components/schemas/Milliseconds"},
              "problem": {"type": "string",
                "description": "Why nothing is sent, or Apple has refused a broadcast, which lists do not have"},
              \#(content)
            }
          },
          "Surfaces": {
            "type": "object", "required": ["surfaces", "cursor"],
            "properties": {
              "surfaces": {"type": "array", "items": {"$ref": "#/components/schemas/Surface"}},
              "cursor": {"type": "integer", "description": "The value of `after` for the next request"}
            }
          },
          "DesiredSurfaces": {
            "type": "object", "required": ["surfaces"],
            "properties": {
              "surfaces": {
                "type": "array",
                "items": {
                  "type": "object", "required": ["id", "revision", "changed-at", "snapshots"],
                  "properties": {
                    "id": {"$ref": "#/components/schemas/SurfaceID"},
                    "revision": {"type": "integer"},
                    "changed-at": {"$ref": "#/components/schemas/Milliseconds"},
                    "snapshots": {"type": "array", "items": {"type": "object", "required": ["kind", "surfaceId"]}}
                  }
                }
              }
            }
          },
          "SurfaceInstallations": {
            "type": "object", "required": ["revision", "changed-at", "spreading", "installations", "cursor"],
            "properties": {
              "revision": {"type": "integer", "description": "The revision of the surface"},
              "changed-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time of the change to this revision"},
              "spreading": {"type": "boolean",
                "description": "Whether phones of the audience may not have been considered since the last change"},
              "installations": {"type": "array", "items": {"$ref": "#/components/schemas/SurfaceInstallation"}},
              "cursor": {"type": "integer", "description": "The value of `after` for the next request"}
            }
          },
          "SurfaceInstallation": {
            "type": "object", "required": ["installation", "in-audience", "kinds"],
            "properties": {
              "installation": {"$ref": "#/components/schemas/InstallationID"},
              "user": {"type": "string",
                "description": "The user of the installation, for a key that also has the scope installations"},
              "in-audience": {"type": "boolean",
                "description": "False once it has left the audience, while something may still be on the phone"},
              "due-at": {"type": "integer",
                "description": "The time of the next decision in milliseconds since 1970; absent for none"},
              "kinds": {
                "type": "object", "propertyNames": {"enum": \#(kinds)},
                "additionalProperties": {"$ref": "#/components/schemas/SurfaceAccount"}
              }
            }
          },
          "SurfaceAccount": {
            "type": "object", "required": ["state"],
            "description": "What the phone shall show of one kind, and what it is assumed to show",
            "properties": {
              "desired-revision": {"type": "integer",
                "description": "The revision that the phone shall show; absent if it shall show nothing"},
              "assumed-revision": {"type": "integer",
                "description": "The revision that Apple has accepted for the phone; absent if it is not known"},
              "since": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time since which that is assumed, or at which Apple accepted an unconfirmed start"},
              "state": {"enum": \#(states),
                "description": "unconfirmed: not reported by the app. broadcast: not on phones that were offline"},
              "channel": {"const": true,
                "description": "Broadcasts on a channel update the Live Activity; absent if pushes to its token do"},
              "reason": {"enum": \#(reasons),
                "description": "Why the phone does not show the desired revision; absent without a cause but time"},
              "detail": {"type": "string",
                "description": "The token of a start or a control that the app has not reported; absent for none"}
            }
          }
        }
        """#
}
