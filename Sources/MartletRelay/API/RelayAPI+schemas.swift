// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension RelayAPI {
    /// The JSON Schemas that the routes refer to, by name.
    ///
    /// They are null when the text is not valid JSON, which a test rules out.
    static let schemas: JSONValue =
        if let pushes = try? JSONReader.read(Array(schemaText.utf8)).members,
            let installations = try? JSONReader.read(Array(InstallationSchemas.text.utf8)).members
        {
            .object(pushes + installations)
        } else {
            .null
        }

    private static let pushTypes = encoded(PushType.all.map(\.rawValue))

    private static let incidentKinds = encoded(Incident.Kind.allCases.map(\.rawValue))
    private static let laneStates = encoded(LaneState.allCases.map(\.rawValue))
    private static let tones = encoded(StatusFigure.Tone.allCases.map(\.rawValue))
    private static let eventKinds = encoded(StatusEvent.Kind.allCases.map(\.rawValue))

    private static func encoded(_ texts: [String]) -> String {
        String(decoding: JSONValue.strings(texts).encoded(), as: UTF8.self)
    }

    private static let oldest = String(decoding: JSONValue.string(RelaySnapshot.oldestHelp).encoded(), as: UTF8.self)

    private static let schemaText = #"""
        {
          "PushRequest": {
            "type": "object",
            "description": "A push: one content for devices, for the phones of users, or for a broadcast channel",
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
              "priority": {"enum": [1, 5, 10], "description": "apns-priority. Not with snapshot"},
              "expiration": {"type": "integer", "minimum": 0, "maximum": 100000000000,
                "description": "apns-expiration, in seconds since 1970; 0 for a single attempt"},
              "collapse-id": {"type": "string", "minLength": 1, "maxLength": 64,
                "pattern": "^[^\\x00-\\x20\\x7f]([^\\x00-\\x08\\x0a-\\x1f\\x7f]*[^\\x00-\\x20\\x7f])?$",
                "description": "apns-collapse-id, of at most 64 bytes in UTF-8"},
              "id": {"$ref": "#/components/schemas/PushID"},
              "not-before": {"type": "integer", "minimum": 0, "maximum": 99999999999,
                "description": "The earliest time to send the push, in seconds since 1970; at most 30 days ahead"},
              "payload": {"type": "object", "description": "The payload; numbers and the order of members are kept"},
              "payload-base64": {"type": "string", "minLength": 1, "contentEncoding": "base64",
                "description": "The payload's bytes, which are sent as they are"},
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
              "mobile-surfaces": {"type": "boolean",
                "description": "With snapshot: whether the push is the one that @mobile-surfaces/push sends"}
            },
            "allOf": [
              {"oneOf": [{"required": ["to"]}, {"required": ["channel"]}]},
              {"oneOf": [{"required": ["payload"]}, {"required": ["payload-base64"]}, {"required": ["snapshot"]}]}
            ]
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
                "enum": ["accepted", "in-flight", "delivered", "refused", "expired", "cancelled", "dead"],
                "description": "delivered: Apple accepted it. dead: abandoned after 16 attempts, or damaged"},
              "ended-at": {"$ref": "#/components/schemas/Milliseconds"},
              "attempts": {"type": "integer", "description": "The number of times that it was sent"},
              "unknown-tries": {"type": "integer",
                "description": "The number of attempts without an answer: each of them may have been delivered, too"},
              "apns": {
                "type": "object", "description": "Apple's last answer, or why the push was not sent",
                "properties": {
                  "status": {"type": "integer"},
                  "reason": {"type": "string"},
                  "unregistered-at": {"$ref": "#/components/schemas/Milliseconds"},
                  "unique-id": {"type": "string", "description": "apns-unique-id, in development only"}
                }
              },
              "cause": {"type": "string",
                "description": "The decision that ended a refused, expired or dead push, for people; see history"},
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
            "description": "The status of the push, or with several tokens the status or problem of each, in order",
            "anyOf": [
              {"$ref": "#/components/schemas/PushStatus"}, {"$ref": "#/components/schemas/AudienceAnswer"},
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
                "description": "Attempts in the last minute; of a lane that is down, since that was noticed"},
              "recent-failures": {"type": "integer", "description": "Those of them that Apple did not accept"},
              "outcomes": {"type": "object", "additionalProperties": {"type": "integer"}},
              "failures": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "Attempts that Apple did not accept since the start, by reason, most frequent first"}
            }
          },
          "Status": {
            "type": "object",
            "required": [
              "version", "headline", "incidents", "state", "started-at", "now", "storage", "dead-letters", "problems",
              "connections", "apps", "nodes", "lanes", "figures", "outcomes", "caller"],
            "properties": {
              "version": {"type": "string"},
              "headline": {"type": "string", "description": "The state in one line, for people"},
              "incidents": {"type": "array", "items": {"$ref": "#/components/schemas/Incident"},
                "description": "The problems of the relay and its lanes, worst first; problems and storage remain"},
              "caller": {
                "type": "object", "required": ["name", "scopes", "may-manage"], "description": "The key of the request",
                "properties": {
                  "name": {"type": "string"}, "scopes": {"type": "array", "items": {"type": "string"}},
                  "may-manage": {"type": "boolean", "description": "Whether administrative requests are accepted here"}
                }
              },
              "state": {"enum": ["ok", "draining", "not-storing"],
                "description": "not-storing: the relay refuses pushes with 503, and storage has the problem"},
              "started-at": {"$ref": "#/components/schemas/Milliseconds"},
              "now": {"$ref": "#/components/schemas/Milliseconds"},
              "storage": {
                "type": "object", "required": ["place", "limit"],
                "properties": {
                  "place": {"type": "string"}, "durability": {"enum": ["full", "relaxed"]},
                  "limit": {"type": "integer"},
                  "free-bytes": {"type": "integer",
                    "description": "The free space on the disk of the file; absent for a database"},
                  "problem": {"type": "string", "description": "The last error; only while pushes cannot be stored"},
                  "since": {"$ref": "#/components/schemas/Milliseconds"},
                  "action": {"type": "string", "description": "How to fix it"}
                }
              },
              "dead-letters": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "The number of dead letters by app, as of the last ten seconds"},
              "problems": {"type": "array", "description": "What an operator has to fix", "items": {
                "type": "object", "required": ["kind", "problem", "since", "error", "action"],
                "properties": {
                  "kind": {"enum": ["configuration", "webhook"]},
                  "app": {"type": "string", "description": "The app of a webhook"},
                  "problem": {"type": "string"}, "since": {"$ref": "#/components/schemas/Milliseconds"},
                  "error": {"type": "string", "description": "The last error"},
                  "action": {"type": "string", "description": "How to fix it"}
                }}},
              "connections": {"type": "integer", "description": "Connections of APNs clients"},
              "apps": {"type": "array", "items": {"$ref": "#/components/schemas/App"}},
              "nodes": {"type": "array", "description": "The relays that share the database", "items": {
                "allOf": [
                  {"$ref": "#/components/schemas/Work"},
                  {"type": "object",
                    "required": ["number", "name", "version", "started-at", "silent-ms", "state", "own"],
                    "properties": {
                      "number": {"type": "integer"}, "name": {"type": "string"}, "version": {"type": "string"},
                      "started-at": {"$ref": "#/components/schemas/Milliseconds"}, "silent-ms": {"type": "integer"},
                      "state": {"enum": ["ok", "leads", "draining", "missing"],
                        "description": "missing: without heartbeats for five seconds"}, "own": {"type": "boolean"}
                    }}
                ]}},
              "figures": {"type": "array", "description": "The figures that matter first, over all lanes, as text",
                "items": {
                  "type": "object", "required": ["name", "value", "note", "tone"],
                  "properties": {
                    "name": {"type": "string"}, "value": {"type": "string"}, "note": {"type": "string"},
                    "tone": {"enum": \#(tones)}
                  }
                }},
              "outcomes": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "The outcomes since the start, over all lanes, by state"},
              "nodes-outdated-since": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time of the data in nodes; only while the database does not answer"},
              "lanes": {"type": "array", "description": "The apps in Apple's environments", "items": {
                "allOf": [
                  {"$ref": "#/components/schemas/Work"},
                  {"type": "object", "required": ["app", "environment", "state"],
                    "properties": {
                      "app": {"type": "string"}, "environment": {"enum": ["production", "development"]},
                      "backlog": {"type": "integer",
                        "description": "Pushes that have not ended; absent while the outbox cannot be read"},
                      "waiting": {"type": "integer", "description": "Those of them that are not in flight"},
                      "oldest-seconds": {"type": "integer", "description": \#(oldest)},
                      "retrying": {"type": "integer",
                        "description": "Pushes that Apple refused for now or did not answer, and that are sent again"},
                      "retrying-since": {"$ref": "#/components/schemas/Milliseconds",
                        "description": "The time when the oldest of these was accepted; absent without one"},
                      "retry-reason": {"type": "string",
                        "description": "Apple's last answer to one of these, or NoAnswer or ConnectionLost"},
                      "state": {"enum": \#(laneStates),
                        "description": "down has reason and since, paused manual-pause; fails: no attempt accepted"},
                      "reason": {"type": "string",
                        "description": "Apple's reason, or one such as ConnectionFailed, NameNotResolved or NoAnswer"},
                      "since": {"$ref": "#/components/schemas/Milliseconds"},
                      "paused-until": {"$ref": "#/components/schemas/Milliseconds",
                        "description": "The time of the next attempt of a lane that is down; absent once it is due"},
                      "manual-pause": {"$ref": "#/components/schemas/ManualPause"}
                    }}
                ]}}
            }
          },
          "Incident": {
            "type": "object",
            "required": ["kind", "severity", "title", "scope", "effect", "action", "runbook", "text"],
            "properties": {
              "kind": {"enum": \#(incidentKinds)},
              "severity": {"enum": ["critical", "warning", "notice"],
                "description": "critical: pushes are not accepted or not delivered. notice: good to know"},
              "title": {"type": "string", "description": "The problem and its scope"},
              "scope": {
                "type": "object", "required": ["apps", "environments"],
                "properties": {
                  "apps": {"type": "array", "items": {"type": "string"}},
                  "environments": {"type": "array", "items": {"enum": ["production", "development"]}}
                }
              },
              "since": {"$ref": "#/components/schemas/Milliseconds"},
              "waiting": {"type": "integer", "description": "Pushes that wait because of it; absent if not known"},
              "lost": {"type": "integer",
                "description": "Pushes that expired, were abandoned or refused since it began; absent if not known"},
              "effect": {"type": "string", "description": "What it means for pushes"},
              "detail": {"type": "string", "description": "The last error or Apple's reason"},
              "action": {"type": "string", "description": "What to do"},
              "runbook": {"type": "string", "description": "The heading of the runbook"},
              "text": {"type": "string", "description": "All of it, for people; times are in UTC"}
            }
          },
          "Events": {
            "type": "object", "required": ["since", "limit", "events"],
            "properties": {
              "since": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The start of the relay, which stores events in memory only"},
              "limit": {"type": "integer", "description": "The number of events that are stored, the latest ones"},
              "events": {"type": "array", "items": {
                "type": "object", "required": ["time", "kind", "text"],
                "properties": {
                  "time": {"$ref": "#/components/schemas/Milliseconds"}, "kind": {"enum": \#(eventKinds)},
                  "app": {"type": "string"}, "environment": {"enum": ["production", "development"]},
                  "text": {"type": "string"}
                }
              }}
            }
          },
          "History": {
            "type": "object", "required": ["lanes", "samples"],
            "properties": {
              "lanes": {"type": "array", "items": {"type": "string"}},
              "samples": {"type": "array", "items": {
                "type": "object", "required": ["time", "lanes"],
                "properties": {
                  "time": {"$ref": "#/components/schemas/Milliseconds"},
                  "lanes": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                      "backlog": {"type": "integer"},
                      "oldest-seconds": {"type": "integer", "description": \#(oldest)},
                      "sent-per-second": {"type": "number"}, "delivered-per-second": {"type": "number"},
                      "failed-per-second": {"type": "number"}
                    }
                  }}
                }
              }}
            }
          }
        }
        """#
}
