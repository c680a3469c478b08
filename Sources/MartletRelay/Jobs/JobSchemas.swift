// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The JSON Schemas of the routes for jobs.
enum JobSchemas {
    static let text = #"""
        {
          "Job": {
            "type": "object",
            "required": ["id", "app", "state", "audience", "created-at", "matched", "stored", "left-out", "waiting",
              "outcomes"],
            "description": "A push to many installations, which the relay stores page by page",
            "properties": {
              "id": {"$ref": "#/components/schemas/PushID"},
              "app": {"type": "string"},
              "state": {"enum": \#(JSONValue.strings(JobState.allCases.map(\.rawValue))),
                "description": "expanding: pushes are still being stored. expanded: all are stored"},
              "audience": {"type": "string", "description": "The expression that the installations match"},
              "created-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "Installations that have enrolled since get no push"},
              "starts-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "The time of not-before, or the first one of local-time; absent without them"},
              "matched": {"type": "integer", "description": "The matching installations that have been read"},
              "stored": {"type": "integer", "description": "Those of them that have a push"},
              "left-out": {"$ref": "#/components/schemas/LeftOut",
                "description": "The numbers of the others by reason"},
              "waiting": {"type": "integer", "description": "The pushes that have not ended"},
              "outcomes": {"type": "object", "additionalProperties": {"type": "integer"},
                "description": "The numbers of the pushes that have ended, by state"},
              "ended-at": {"$ref": "#/components/schemas/Milliseconds",
                "description": "Absent while pushes are being stored or have not ended"},
              "problem": {"type": "string",
                "description": "Why the installations that were not read get no push; absent if they do"}
            }
          },
          "Jobs": {
            "type": "object", "required": ["jobs"],
            "properties": {
              "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
              "cursor": {"type": "integer",
                "description": "The value of before for the next request; absent at the end"}
            }
          },
          "JobPushes": {
            "type": "object", "required": ["pushes", "cursor"],
            "properties": {
              "cursor": {"type": "integer", "description": "The value of `after` for the next request"},
              "pushes": {"type": "array", "items": {
                "allOf": [
                  {"$ref": "#/components/schemas/PushStatus"},
                  {"type": "object", "properties": {
                    "installation": {"$ref": "#/components/schemas/InstallationID",
                      "description": "Absent if it was removed since"},
                    "user": {"type": "string",
                      "description": "The user of the installation, for a key that also has the scope installations"}
                  }}
                ]}}
            }
          }
        }
        """#
}
