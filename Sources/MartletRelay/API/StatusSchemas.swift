// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The JSON Schemas of the routes for the status, the events and the history of the relay.
enum StatusSchemas {
    private static let incidentKinds = JSONValue.strings(Incident.Kind.allCases.map(\.rawValue))
    private static let laneStates = JSONValue.strings(LaneState.allCases.map(\.rawValue))
    private static let tones = JSONValue.strings(StatusFigure.Tone.allCases.map(\.rawValue))
    private static let eventKinds = JSONValue.strings(StatusEvent.Kind.allCases.map(\.rawValue))
    private static let oldest = JSONValue.string(RelaySnapshot.oldestHelp)

    static let text = #"""
        {
          "Status": {
            "type": "object",
            "required": [
              "version", "headline", "incidents", "state", "started-at", "now", "storage", "dead-letters", "problems",
              "connections", "apps", "nodes", "lanes", "figures", "outcomes", "caller"],
            "properties": {
              "version": {"type": "string"},
              "headline": {"type": "string", "description": "The state in a short sentence, for people"},
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
                        "description": "missing: without heartbeats for five seconds"},
                      "own": {"type": "boolean"}
                    }}
                ]}},
              "figures": {"type": "array",
                "description": "The figures that matter first as text, over all lanes and all surfaces",
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
              "lanes": {"type": "array",
                "description": "The apps in Apple's environments, those with a problem first", "items": {
                "allOf": [
                  {"$ref": "#/components/schemas/Work"},
                  {"type": "object", "required": ["app", "environment", "state", "idle"],
                    "properties": {
                      "app": {"type": "string"}, "environment": {"enum": ["production", "development"]},
                      "backlog": {"type": "integer",
                        "description": "Pushes that have not ended; absent while the outbox cannot be read"},
                      "waiting": {"type": "integer",
                        "description": "Those of them that are not in flight"},
                      "blocked": {"type": "integer", "description": "Those of them that wait behind others"},
                      "oldest-seconds": {"type": "integer", "description": \#(oldest)},
                      "retrying": {"type": "integer",
                        "description": "Pushes that Apple refused for now or did not answer, and that are sent again"},
                      "retrying-since": {"$ref": "#/components/schemas/Milliseconds",
                        "description": "The time when the oldest of these was accepted; absent without one"},
                      "retry-reason": {"type": "string",
                        "description": "The last result of one of these, for people; absent if not known"},
                      "state": {"enum": \#(laneStates),
                        "description": "down, not-tried: reason and since; paused: manual-pause; fails: none accepted"},
                      "idle": {"type": "boolean",
                        "description": "Whether the lane is ready and has no push and no failure since the start"},
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
              "waiting": {"type": "integer",
                "description": "Pushes that wait because of it, also those in flight; absent if not known"},
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
