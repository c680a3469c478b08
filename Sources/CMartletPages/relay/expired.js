// SPDX-License-Identifier: Apache-2.0

// The list of expired pushes: of those the relay stores only identifier and outcome, and its latest outcomes are in memory.

import { copied, emptyState, table } from "./components.js"
import { showDialog } from "./dialog.js"
import { element } from "./dom.js"
import { answerText, preciseClockElement } from "./figures.js"
import { laneElement } from "./lanes.js"
import { longTable } from "./list.js"
import { storedOutcomes } from "./relay.js"
import { counted } from "./texts.js"

const columns = [
  { name: "When", isHeader: true, value: (push) => preciseClockElement(push["ended-at"]) },
  { name: "App", value: laneElement },
  { name: "Push", value: ({ id }) => copied(id, "identifier", element("code", {}, id)) },
  { name: "Apple's last answer", value: (push) => answerText(push) || "not sent" },
]

/** Shows the pushes of apps and environments that have expired. */
export const showExpired = ({ apps, environments }) => showDialog("Expired pushes", async () => {
  const outcomes = await storedOutcomes()
  const isShown = ({ state, app, environment }) => state === "expired" && apps.includes(app) && environments.includes(environment)
  const pushes = outcomes.filter(isShown).reverse()
  const oldest = outcomes[0]?.["ended-at"]
  return [
    element("p", {}, "The relay deletes an expired push and stores its identifier and outcome: send again from the back end what still matters."),
    ...pushes.length ? longTable("List of expired pushes", table("Expired pushes", columns, pushes))
      : [emptyState("stored", "No expired pushes", "None of the outcomes in memory is that of an expired push of these lanes.")],
    element("p", { class: "faint" }, `${counted(pushes.length, "push", "pushes")} of the latest ${counted(outcomes.length, "outcome")} in memory`,
      ...oldest === undefined ? [] : [", since ", preciseClockElement(oldest)], ". A restart forgets them. ",
      element("code", {}, "martlet relay search --id ID"), " finds older ones by their identifiers."),
  ]
})
