// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension RelayAPI {
    /// The JSON Schemas that the routes refer to, by name.
    ///
    /// They are null when the text is not valid JSON, which a test rules out.
    static let schemas: JSONValue =
        if let pushes = try? JSONReader.read(Array(schemaText.utf8)).members,
            let status = try? JSONReader.read(Array(StatusSchemas.text.utf8)).members,
            let installations = try? JSONReader.read(Array(InstallationSchemas.text.utf8)).members,
            let jobs = try? JSONReader.read(Array(JobSchemas.text.utf8)).members,
            let surfaces = try? JSONReader.read(Array(SurfaceSchemas.text.utf8)).members
        {
            .object(pushes + status + installations + jobs + surfaces)
        } else {
            .null
        }

    private static let pushTypes = JSONValue.strings(PushType.all.map(\.rawValue))

    private static let schemaText = #"""
        {
          "PushRequest": {
            "type": "object",
            "description": "A push: one content for devices, for phones that have enrolled, or for a channel",
            "additionalProperties": false,
            "properties": {
              "app": {"type": "string", "minLength": 1,
                "description": "The app's name; needed when the key is for several apps and bundle-id is missing"},
              "environment": {"enum": ["production", "development"],
                "description": "Apple's environment; the first of the app by default. Not with an audience"},
              "to": {"description": "A device token, a list of them, or an audience",
                "oneOf": [
                  {"$ref": "#/components/schemas/DeviceToken"}, {"$ref": "#/components/schemas/Audience"},
                  {"type": "array", "minItems": 1, "maxItems": 10000,
                    "items": {"$ref": "#/components/schemas/DeviceToken"}}
                ]},
              "channel": {"type": "string", "minLength": 1, "description": "A broadcast channel, as Apple named it"},
              "bundle-id": {"type": "string", "minLength": 1,
                "description": "Without a suffix; the first of the app by default. Not with an audience"},
              "push-type": {
                "enum": \#(pushTypes),
                "description": "alert by default, liveactivity for a channel. Not with snapshot"},
              "priority": {"enum": [1, 5, 10],
                "description": "apns-priority; with a snapshot of a Live Activity or a notification 10 or 5"},
              "expiration": {"type": "integer", "minimum": 0, "maximum": 100000000000,
                "description": "apns-expiration, in seconds since 1970; 0 for a single attempt"},
              "collapse-id": {"type": "string", "minLength": 1, "maxLength": 64,
                "pattern": "^[^\\x00-\\x20\\x7f]([^\\x00-\\x08\\x0a-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?$",
                "description": "apns-collapse-id, of at most 64 bytes in UTF-8"},
              "id": {"$ref": "#/components/schemas/PushID"},
              "not-before": {"type": "integer", "minimum": 0, "maximum": 99999999999,
                "description": "The earliest time to send the push, in seconds since 1970; at most 30 days ahead"},
              "supersede": {"type": "boolean", "default": false,
                "description": "Whether the push replaces the earlier ones of its line that wait"},
              "local-time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}$",
                "description": "With an audience, in place of not-before: the time on the clock of each phone"},
              "local-time-zone": {"type": "string", "minLength": 1, "maxLength": 64, "default": "UTC",
                "description": "With local-time: the zone of phones that have reported none, as in IANA's database"},
              "payload": {"type": "object", "description": "The payload; numbers and the order of members are kept"},
              "payload-base64": {"type": "string", "minLength": 1, "contentEncoding": "base64",
                "description": "The payload's bytes, which are sent as they are"},
              "locales": {"type": "object", "maxProperties": \#(PayloadOverrides.limit),
                "propertyNames": {"pattern": "^[A-Za-z0-9]{1,8}([_-][A-Za-z0-9]{1,8})*$", "maxLength": 40},
                "additionalProperties": {"type": "object"},
                "description": "By language tag: JSON Merge Patches of payload for phones of an audience"},
              "values": {"type": "object", "maxProperties": \#(PersonalValues.jobUserLimit),
                "additionalProperties": {"$ref": "#/components/schemas/Values"},
                "description": "By user: the texts for placeholders such as {{name}} in payload and locales"},
              "default-values": {"$ref": "#/components/schemas/Values",
                "description": "The texts for placeholders for which a user has none in values"},
              "snapshot": {"type": "object", "required": ["kind"],
                "description": "A snapshot, of which the relay makes the payload; see `martlet surface schema`"},
              "event": {"enum": ["start", "update", "end"],
                "description": "The event of a Live Activity's snapshot; update by default, start for no channel"},
              "stale-date": {"type": "integer", "minimum": 0, "maximum": 100000000000,
                "description": "With a Live Activity's snapshot: seconds since 1970, from which it is outdated"},
              "relevance-score": {"type": "number",
                "description": "With a Live Activity's snapshot: the rank among several activities"},
              "attributes-type": {"type": "string", "minLength": 1,
                "description": "With the event start: the app's type, by default SurfaceActivityAttributes"},
              "dismissal-date": {"type": "integer", "minimum": 0, "maximum": 100000000000,
                "description": "With the event end: seconds since 1970 at which the activity leaves the screen"},
              "mobile-surfaces": {"type": "boolean",
                "description": "With snapshot: whether the push is the one that @mobile-surfaces/push sends"}
            },
            "allOf": [
              {"oneOf": [{"required": ["to"]}, {"required": ["channel"]}]},
              {"oneOf": [{"required": ["payload"]}, {"required": ["payload-base64"]}, {"required": ["snapshot"]}]}
            ]
          },
          "Values": {
            "type": "object", "maxProperties": \#(PersonalValues.nameLimit),
            "propertyNames": {"pattern": "^[A-Za-z0-9_-]{1,64}$"},
            "additionalProperties": {"type": ["string", "number"], "maxLength": \#(PersonalValues.byteLimit)}
          },
          "DeviceToken": {"type": "string", "pattern": "^([0-9A-Fa-f]{2}){1,512}$", "minLength": 2, "maxLength": 1024,
            "description": "A device token in hexadecimal digits"},
          "PushID": {"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "description": "The apns-id of a push: the same one always means the same push"},
          "Milliseconds": {"type": "integer", "description": "A time in milliseconds since 1970"},
          "PushStatus": {
            "type": "object", "required": ["id", "app", "environment", "accepted-at", "state"],
            "properties": {
              "id": {"$ref": "#/components/schemas/PushID"},
              "app": {"type": "string"},
              "environment": {"enum": ["production", "development"]},
              "notes": {"type": "array", "items": {"type": "string"},
                "description": "Probable mistakes in the push, only in the answer to its request"},
              "accepted-at": {"$ref": "#/components/schemas/Milliseconds"},
              "state": {
                "enum": [
                  "accepted", "in-flight", "delivered", "refused", "expired", "cancelled", "superseded", "dead"
                ],
                "description": "delivered: Apple accepted it. dead: abandoned after 16 attempts, or damaged"},
              "due-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time that a waiting push waits for; only in the answer to GET by its identifier"},
              "surface": {"$ref": "#/components/schemas/SurfaceID",
                "description": "The surface that it shows, only in answers to GET by identifier; also with problem"},
              "problem": {
                "type": "object", "description": "Why a request in SQL about a surface was not carried out",
                "properties": {
                  "status": {"type": "integer", "description": "The status that PUT or DELETE would have had"},
                  "detail": {"type": "string",
                    "description": "The rule, only in answers to GET by identifier with a key that also has send"}
                }
              },
              "installation": {"$ref": "#/components/schemas/InstallationID",
                "description": "The installation that shows the surface"},
              "ended-at": {"$ref": "#/components/schemas/Milliseconds"},
              "attempts": {"type": "integer", "description": "The number of times that it was sent"},
              "unknown-tries": {"type": "integer",
                "description": "The number of attempts without an answer: each of them may have been delivered, too"},
              "apns": {
                "type": "object", "description": "Apple's last answer, or why the push was not sent",
                "properties": {
                  "status": {"type": "integer"},
                  "reason": {"type": "string",
                    "description": "Apple's reason or the error; Damaged, FormerUser: the relay's"},
                  "unregistered-at": {"$ref": "#/components/schemas/Milliseconds"},
                  "unique-id": {"type": "string", "description": "apns-unique-id, in development only"}
                }
              },
              "cause": {"type": "string",
                "description": "What ended a refused, expired, superseded or dead push, for people; see history"},
              "history": {"$ref": "#/components/schemas/AttemptHistory"}
            }
          },
          "AttemptHistory": {
            "type": "object", "required": ["attempts"],
            "description": "The attempts that failed, only in answers to GET of pushes and of one dead letter",
            "properties": {
              "attempts": {"type": "array", "maxItems": 8, "description": "The first one and the latest ones",
                "items": {
                  "type": "object", "required": ["time", "node", "key-id"],
                  "properties": {
                    "time": {"$ref": "#/components/schemas/Milliseconds"},
                    "node": {"type": "string", "description": "The name of the relay"},
                    "key-id": {"type": "string", "description": "The key that signed the provider token"},
                    "status": {"type": "integer", "description": "The status of Apple's answer; absent without one"},
                    "reason": {"type": "string",
                      "description": "Apple's reason, or one such as ConnectionFailed, ConnectionLost or NoAnswer"}
                  }
                }},
              "omitted": {"type": "integer", "description": "The number of attempts left out after the first one"}
            }
          },
          "PushAnswer": {
            "description": "The status of the push, a job, or with several tokens the status or problem of each",
            "anyOf": [
              {"$ref": "#/components/schemas/PushStatus"}, {"$ref": "#/components/schemas/AudienceAnswer"},
              {"$ref": "#/components/schemas/Job"},
              {"type": "object", "required": ["pushes"], "properties": {"pushes": {"type": "array", "items": {
                "anyOf": [
                  {"$ref": "#/components/schemas/PushStatus"}, {"$ref": "#/components/schemas/Problem"}
                ]}}}}
            ]
          },
          "UnregisteredTokens": {
            "type": "object", "required": ["unregistered-tokens", "cursor"],
            "properties": {
              "cursor": {"type": "integer", "description": "The value of `after` for the next request"},
              "unregistered-tokens": {"type": "array", "items": {"$ref": "#/components/schemas/UnregisteredToken"}}
            }
          },
          "UnregisteredToken": {
            "type": "object", "required": ["cursor", "token", "environment", "topic", "reason", "reported-at"],
            "properties": {
              "cursor": {"type": "integer"},
              "token": {"$ref": "#/components/schemas/DeviceToken"},
              "environment": {"enum": ["production", "development"]},
              "topic": {"type": "string", "description": "The apns-topic of the push that Apple refused"},
              "reason": {"type": "string", "description": "Apple's reason"},
              "reported-at": {"$ref": "#/components/schemas/Milliseconds"},
              "unregistered-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time at which Apple last confirmed that the token is unregistered"}
            }
          },
          "DeadLetters": {
            "type": "object", "required": ["dead-letters"],
            "properties": {"dead-letters": {"type": "array", "items": {"allOf": [
              {"$ref": "#/components/schemas/PushStatus"},
              {"type": "object", "properties": {
                "short-token": {"type": "string", "description": "The first eight digits of the device token"},
                "channel": {"type": "string"}
              }}
            ]}}}
          },
          "DeadLetter": {
            "allOf": [
              {"$ref": "#/components/schemas/PushStatus"},
              {"type": "object",
                "description": "The content as its sender gave it: payload-base64 if the payload is not JSON",
                "properties": {
                  "to": {"$ref": "#/components/schemas/DeviceToken"},
                  "channel": {"type": "string"}, "bundle-id": {"type": "string"}, "push-type": {"type": "string"},
                  "topic": {"type": "string"}, "priority": {"type": "string"}, "expiration": {"type": "string"},
                  "collapse-id": {"type": "string"}, "payload": {"description": "The payload"},
                  "payload-base64": {"type": "string", "contentEncoding": "base64"}
                }}
            ]
          },
          "FoundPushes": {
            "type": "object", "required": ["pushes", "cursor"],
            "properties": {
              "cursor": {"type": "integer", "description": "The value of `after` for the next request"},
              "pushes": {"type": "array", "items": {"$ref": "#/components/schemas/PushStatus"}}
            }
          },
          "ManualPause": {
            "type": "object", "required": ["since", "caller"], "description": "A pause of a lane by an operator",
            "properties": {
              "since": {"$ref": "#/components/schemas/Milliseconds"},
              "caller": {"type": "string", "description": "The name of the caller that paused the lane"}
            }
          },
          "Channels": {
            "type": "object", "required": ["channels"],
            "properties": {"channels": {"type": "array", "items": {"type": "string"}}}
          },
          "State": {
            "type": "object", "required": ["state"], "properties": {"state": {"enum": ["draining"]}}
          },
          "Backup": {
            "type": "object", "required": ["file"],
            "properties": {"file": {"type": "string", "description": "Path of the copy on the relay's machine"}}
          },
          "App": {
            "type": "object", "required": ["name", "bundle-ids", "environments", "team-id", "key-id"],
            "properties": {
              "name": {"type": "string"},
              "bundle-ids": {"type": "array", "items": {"type": "string"}},
              "environments": {"type": "array", "items": {"enum": ["production", "development"]}},
              "team-id": {"type": "string"}, "key-id": {"type": "string"},
              "rate": {"type": "integer", "description": "Pushes per second"}
            }
          },
          "Apps": {
            "type": "object", "required": ["apps"],
            "properties": {"apps": {"type": "array", "items": {"$ref": "#/components/schemas/App"}}}
          },
          "Work": {
            "type": "object", "required": ["in-flight", "connections", "sent", "outcomes"],
            "properties": {
              "in-flight": {"type": "integer"}, "connections": {"type": "integer"},
              "sent-per-second": {"type": "number"}, "sent": {"type": "integer"},
              "delivered-per-second": {"type": "number"},
              "recent-attempts": {"type": "integer",
                "description": "Attempts in the last minute, or since an outage was noticed, or ended in that minute"},
              "recent-failures": {"type": "integer", "description": "Those of them that Apple did not accept"},
              "outcomes": {"type": "object", "additionalProperties": {"type": "integer"}},
              "failures": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "Attempts that Apple did not accept since the start, by reason, most frequent first"}
            }
          }
        }
        """#
}
