// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The JSON Schemas of the routes for tickets and installations.
enum InstallationSchemas {
    /// The members that an app reports; a change may have null.
    ///
    /// They are the same in a request, in a change and in an installation.
    private static func members(allowingNull: Bool) -> String {
        func type(_ name: String) -> String { allowingNull ? "[\"\(name)\", \"null\"]" : "\"\(name)\"" }
        let token = allowingNull ? "NullableToken" : "DeviceToken"
        let reference = "{\"$ref\": \"#/components/schemas/\(token)\"}"
        let named = "\"type\": \(type("object")), \"additionalProperties\": \(reference)"
        func limit(_ kind: Installation.TokenKind) -> Int {
            allowingNull ? InstallationReader.nameLimit(of: kind) : kind.limit
        }
        let activityLimit =
            allowingNull ? InstallationReader.activityLimit : limit(.activity) + Installation.endedActivityLimit
        return #"""
            "environment": {"enum": ["production", "development"],
              "description": "The environment of all tokens; a change removes those of the other one"},
            "bundle-id": {"type": "string", "description": "The bundle identifier; the first of the app by default"},
            "tokens": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "device": \#(reference),
                "start": {\#(named), "maxProperties": \#(limit(.start)),
                  "description": "The tokens that start Live Activities, by the type of their attributes"},
                "widgets": \#(reference),
                "controls": {\#(named), "maxProperties": \#(limit(.control)),
                  "description": "The tokens of controls, by their kinds"}
              }
            },
            "activities": {
              "type": \#(type("object")), "maxProperties": \#(activityLimit),
              "additionalProperties": {"$ref": "#/components/schemas/\#(allowingNull ? "ActivityChange" : "Activity")"},
              "description": "Live Activities by their identifiers: those that run, and the newest that have ended"
            },
            "locale": {"type": \#(type("string")), "maxLength": 40, "description": "As in BCP 47: de-CH"},
            "time-zone": {"type": \#(type("string")), "maxLength": 64, "description": "As in IANA's database"},
            "app-version": {"type": \#(type("string")), "maxLength": 64},
            "system-version": {"type": \#(type("string")), "maxLength": 64},
            "model": {"type": \#(type("string")), "maxLength": 64},
            "permissions": {
              "type": \#(type("object")), "additionalProperties": false,
              "properties": {
                "alerts": {"type": \#(type("boolean"))},
                "live-activities": {"type": \#(type("boolean"))},
                "frequent-updates": {"type": \#(type("boolean"))}
              }
            }
            """#
    }

    private static let tags = #"""
        {"type": "array", "maxItems": \#(InstallationReader.tagLimit), "uniqueItems": true,
          "items": {"type": "string", "pattern": "^[A-Za-z0-9_.:@-]{1,120}$"}}
        """#

    private static let ignoredMembers = InstallationReader.ignoredMembers
        .map { #""\#($0)": {"description": "Ignored, because the relay sets it"}"# }.joined(separator: ", ")

    private static let importMembers = InstallationImportRun.counted.map(\.rawValue) + ["refused", "problems"]

    private static let starters = JSONValue.strings(Installation.Activity.Starter.allCases.map(\.rawValue))

    private static let endCauses = JSONValue.strings(Installation.Activity.End.Cause.allCases.map(\.rawValue))

    private static let leftOutReasons = JSONValue.strings(LeftOutReason.allCases.map(\.rawValue))

    static let text = #"""
        {
          "InstallationID": {"type": "string",
            "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "description": "The identifier of an installation, which is not a secret"},
          "NullableToken": {"oneOf": [{"$ref": "#/components/schemas/DeviceToken"}, {"type": "null"}]},
          "SurfaceID": {"type": "string", "pattern": "^[!-~]{1,120}$",
            "description": "The identifier of the surface that a Live Activity shows: the surfaceId of its snapshot"},
          "ActivityEnd": {
            "type": "object", "additionalProperties": false, "required": ["cause", "at"],
            "description": "The cause of the end, and its time by the phone's clock",
            "properties": {
              "cause": {"enum": \#(endCauses)}, "at": {"$ref": "#/components/schemas/Milliseconds"}
            }
          },
          "Activity": {
            "type": "object", "additionalProperties": false, "required": ["surface"],
            "properties": {
              "surface": {"$ref": "#/components/schemas/SurfaceID"},
              "token": {"$ref": "#/components/schemas/DeviceToken",
                "description": "Absent while the system has issued none, and after the end"},
              "started-at": {"$ref": "#/components/schemas/Milliseconds", "description": "By the phone's clock"},
              "started-by": {"enum": \#(starters)},
              "ended": {"$ref": "#/components/schemas/ActivityEnd"}
            }
          },
          "ActivityChange": {
            "type": ["object", "null"], "additionalProperties": false,
            "description": "A change of a Live Activity, which null removes",
            "properties": {
              "surface": {"$ref": "#/components/schemas/SurfaceID", "description": "Required if the activity is new"},
              "token": {"$ref": "#/components/schemas/NullableToken"},
              "started-at": {"type": ["integer", "null"], "minimum": \#(InstallationReader.phoneTimes.lowerBound),
                "maximum": \#(InstallationReader.phoneTimes.upperBound),
                "description": "The phone's time of the start in milliseconds since 1970"},
              "started-by": {"oneOf": [{"enum": \#(starters)}, {"type": "null"}]},
              "ended": {"oneOf": [{"$ref": "#/components/schemas/ActivityEnd"}, {"type": "null"}]}
            }
          },
          "User": {"type": "string", "minLength": 1, "maxLength": 128,
            "description": "The back end's identifier of the user, of at most 128 bytes, without control characters"},
          "Audience": {
            "type": "object", "additionalProperties": false,
            "description": "Phones that have enrolled; the push type decides to which of their tokens the push is sent",
            "oneOf": [
              {"required": ["user"]}, {"required": ["users"]}, {"required": ["installation"]}, {"required": ["tag"]},
              {"required": ["where"]}, {"required": ["all"]}
            ],
            "properties": {
              "user": {"$ref": "#/components/schemas/User"},
              "users": {"type": "array", "minItems": 1, "maxItems": \#(AudienceRequest.userLimit),
                "items": {"$ref": "#/components/schemas/User"}},
              "installation": {"$ref": "#/components/schemas/InstallationID"},
              "tag": {"type": "string", "pattern": "^[A-Za-z0-9_.:@-]{1,120}$",
                "description": "The installations with the tag, to which a job sends"},
              "where": {"type": "string", "minLength": 1, "maxLength": \#(AudienceExpression.byteLimit),
                "description": "Those that match: vip && !trial && locale:de && app-version>=2.10; by a job"},
              "all": {"const": true, "description": "All installations of the app, to which a job sends"},
              "activity": {"type": "string", "pattern": "^[!-~]{1,128}$",
                "description": "The identifier of the Live Activity that the push updates or ends"},
              "control": {"type": "string", "pattern": "^[!-~]{1,128}$",
                "description": "The kind of the control, for the push type controls"}
            }
          },
          "AudienceAnswer": {
            "type": "object", "required": ["pushes", "left-out"],
            "properties": {
              "pushes": {"type": "array", "description": "The push of each phone", "items": {
                "allOf": [
                  {"anyOf": [
                    {"$ref": "#/components/schemas/PushStatus"}, {"$ref": "#/components/schemas/Problem"}
                  ]},
                  {"type": "object", "required": ["installation"],
                    "properties": {"installation": {"$ref": "#/components/schemas/InstallationID"}}}
                ]}},
              "left-out": {"$ref": "#/components/schemas/LeftOut",
                "description": "The numbers of phones without a push by reason, and of users without a phone"}
            }
          },
          "LeftOut": {
            "type": "object", "additionalProperties": {"type": "integer"},
            "propertyNames": {"enum": \#(leftOutReasons)}
          },
          "AudienceCountRequest": {
            "type": "object", "additionalProperties": false, "required": ["where"],
            "properties": {
              "where": {"type": "string", "minLength": 1, "maxLength": \#(AudienceExpression.byteLimit),
                "description": "The installations: vip && !trial && locale:de && app-version>=2.10"},
              "push-type": {"enum": ["alert", "background", "widgets", "controls", "liveactivity"], "default": "alert"},
              "attributes-type": {"type": "string", "pattern": "^[!-~]{1,128}$",
                "description": "The type of the attributes of a Live Activity, for the push type liveactivity"},
              "control": {"type": "string", "pattern": "^[!-~]{1,128}$",
                "description": "The kind of the control, for the push type controls"}
            }
          },
          "AudienceCount": {
            "type": "object",
            "required": ["matched", "reachable", "left-out", "complete", "environments", "app-versions",
              "system-versions", "permissions"],
            "properties": {
              "matched": {"type": "integer", "description": "The installations that match"},
              "reachable": {"type": "integer", "description": "Those with the token and the permission for the push"},
              "left-out": {"$ref": "#/components/schemas/LeftOut",
                "description": "The numbers of the others by reason"},
              "complete": {"type": "boolean",
                "description": "False when \#(AudienceCount.limit) installations were examined, and others were not"},
              "environments": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "The numbers of those that match, by environment"},
              "app-versions": {"$ref": "#/components/schemas/VersionCounts"},
              "system-versions": {"$ref": "#/components/schemas/VersionCounts"},
              "permissions": {
                "type": "object", "description": "By permission; the others have not reported it",
                "additionalProperties": {
                  "type": "object", "required": ["granted", "denied"],
                  "properties": {"granted": {"type": "integer"}, "denied": {"type": "integer"}}}}
            }
          },
          "VersionCounts": {
            "type": "array", "maxItems": \#(AudienceCount.versionLimit),
            "description": "The most frequent versions of those that match",
            "items": {
              "type": "object", "required": ["installations"],
              "properties": {
                "version": {"type": "string", "description": "Absent for installations that have reported none"},
                "installations": {"type": "integer"}
              }
            }
          },
          "TicketRequest": {
            "type": "object", "additionalProperties": false, "required": ["user"],
            "properties": {
              "user": {"$ref": "#/components/schemas/User"},
              "tags": \#(tags),
              "seconds": {"type": "integer", "minimum": 1, "maximum": \#(InstallationReader.ticketTimes.upperBound),
                "default": \#(InstallationReader.ticketTime), "description": "The time for which the ticket is valid"},
              "single-use": {"type": "boolean", "default": true,
                "description": "Whether the ticket is void after one enrollment"}
            }
          },
          "Ticket": {
            "type": "object", "required": ["ticket", "expires-at"],
            "properties": {
              "ticket": {"type": "string", "pattern": "^mtk_[a-z2-7]{52}$"},
              "expires-at": {"$ref": "#/components/schemas/Milliseconds"}
            }
          },
          "EnrollmentRequest": {
            "type": "object", "additionalProperties": false, "required": ["environment"],
            "properties": {
              \#(members(allowingNull: true)),
              "replaces": {"type": ["string", "null"],
                "description": "The secret of an earlier installation on this phone, which is removed"}
            }
          },
          "Enrollment": {
            "type": "object", "required": ["installation", "secret"],
            "properties": {
              "installation": {"$ref": "#/components/schemas/Installation"},
              "secret": {"type": "string", "pattern": "^mri_[a-z2-7]{52}$",
                "description": "The secret of the installation, which is shown only here"}
            }
          },
          "InstallationReport": {
            "type": "object", "additionalProperties": false,
            "properties": {
              \#(members(allowingNull: true))
            }
          },
          "InstallationChange": {
            "type": "object", "additionalProperties": false,
            "properties": {
              \#(members(allowingNull: true)),
              "tags": \#(tags)
            }
          },
          "Installation": {
            "type": "object",
            "required": ["id", "app", "user", "environment", "bundle-id", "tokens", "activities", "permissions",
              "tags", "created-at", "changed-at", "seen-at"],
            "properties": {
              "id": {"$ref": "#/components/schemas/InstallationID"},
              "app": {"type": "string"},
              "user": {"$ref": "#/components/schemas/User"},
              \#(members(allowingNull: false)),
              "tags": \#(tags),
              "created-at": {"$ref": "#/components/schemas/Milliseconds"},
              "changed-at": {"$ref": "#/components/schemas/Milliseconds"},
              "seen-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The app's last report, to the hour if it changed nothing"}
            }
          },
          "Installations": {
            "type": "object", "required": ["installations", "cursor"],
            "properties": {
              "installations": {"type": "array", "items": {"$ref": "#/components/schemas/Installation"}},
              "cursor": {"type": "integer", "description": "The value of after for the next request"}
            }
          },
          "ImportedInstallation": {
            "type": "object", "required": ["user", "tokens"], "additionalProperties": false,
            "description": "A line of an import: an installation as it is listed, or a part of it",
            "properties": {
              "app": {"type": ["string", "null"], "description": "Must be the app in the path"},
              "id": {"oneOf": [{"$ref": "#/components/schemas/InstallationID"}, {"type": "null"}],
                "description": "Without it, the app, the environment and the device token determine the identifier"},
              "user": {"$ref": "#/components/schemas/User"},
              \#(members(allowingNull: true)),
              "tags": \#(tags),
              \#(ignoredMembers)
            }
          },
          "Import": {
            "type": "object", "required": \#(JSONValue.strings(importMembers)),
            "properties": {
              "added": {"type": "integer", "description": "The lines with a new installation"},
              "changed": {"type": "integer", "description": "The lines that changed an imported installation"},
              "unchanged": {"type": "integer"},
              "known": {"type": "integer", "description": "The lines about phones that have enrolled themselves"},
              "unregistered": {"type": "integer", "description": "The lines whose tokens Apple reported as such"},
              "refused": {"type": "integer"},
              "unknown-time-zones": {
                "type": "array", "maxItems": \#(InstallationImportRun.unknownZoneLimit), "items": {"type": "string"},
                "description": "The first time zones that the IANA database does not have; absent without one"
              },
              "problems": {
                "type": "array", "maxItems": \#(InstallationImportRun.problemLimit),
                "description": "The first refused lines that were found, in the order of the body",
                "items": {
                  "type": "object", "required": ["line", "detail"],
                  "properties": {
                    "line": {"type": "integer", "minimum": 1, "description": "The number of the line in the body"},
                    "detail": {"type": "string", "description": "The member, its value and the rule"},
                    "pointer": {"type": "string", "description": "The place in the line, as a JSON Pointer"}
                  }
                }
              }
            }
          },
          "UserData": {
            "type": "object", "required": ["app", "user", "installations", "surfaces", "pushes", "complete"],
            "properties": {
              "app": {"type": "string"},
              "user": {"$ref": "#/components/schemas/User"},
              "installations": {"type": "array", "items": {"$ref": "#/components/schemas/Installation"}},
              "surfaces": {"type": "array", "items": {"$ref": "#/components/schemas/Surface"},
                "description": "Those whose audience names the user or an installation, without users and snapshots"},
              "pushes": {"type": "array", "items": {"$ref": "#/components/schemas/PushStatus"}},
              "complete": {"type": "boolean", "description": "False when the surfaces or pushes could not all be read"}
            }
          },
          "UserOverview": {
            "type": "object", "required": ["app", "user", "installations", "pushes", "complete"],
            "properties": {
              "app": {"type": "string"},
              "user": {"$ref": "#/components/schemas/User"},
              "installations": {"type": "array", "items": {
                "type": "object",
                "required": ["id", "environment", "short-tokens", "activities", "permissions", "tags", "seen-at"],
                "description": "The members of an Installation, with short-tokens and short-token for its tokens",
                "properties": {"short-tokens": {"type": "object", "description": "The first eight digits of each"}}
              }},
              "pushes": {
                "type": "array",
                "description": "Those that wait or were abandoned, and those of the app's latest jobs, latest first",
                "items": {"allOf": [
                  {"$ref": "#/components/schemas/PushStatus"},
                  {"type": "object", "properties": {
                    "job": {"$ref": "#/components/schemas/PushID", "description": "The job of the push"},
                    "installation": {"$ref": "#/components/schemas/InstallationID"}}}
                ]}},
              "complete": {"type": "boolean",
                "description": "False when more pushes wait or were abandoned than are listed"}
            }
          },
          "UserErasure": {
            "type": "object", "required": ["installations", "cancelled-pushes", "dead-letters"],
            "properties": {
              "installations": {"type": "integer"},
              "cancelled-pushes": {"type": "integer"},
              "dead-letters": {"type": "integer"}
            }
          }
        }
        """#
}
