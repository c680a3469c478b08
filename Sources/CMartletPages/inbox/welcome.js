// SPDX-License-Identifier: Apache-2.0

// The inbox without pushes: the configuration of three clients, and a test push.

import { request } from "./api.js"
import { button, copyButton, tabs } from "./components.js"
import { element } from "./dom.js"
import { examples } from "./examples.js"
import { icon } from "./icons.js"

/** The recipes of the simulator that are shown, with their labels. */
const clients = { curl: "curl", "Martlet, Swift": "Martlet for Swift", "Node.js": "Node.js" }
const testPush = { "device-token": "5d3a6a1c8f9a42d6", headers: { "apns-topic": "com.example.app", "apns-push-type": "alert" } }

/** Fills a container with the first steps. */
export async function showWelcome(container) {
  const code = element("pre", { tabindex: 0, role: "tabpanel" })
  const copy = element("span", {})
  const error = element("p", { class: "problem", role: "alert" })
  const send = button("Send a test push", async () => {
    error.textContent = ""
    try {
      await request("/api/v1/pushes", "POST", { ...testPush, payload: examples.Alert.payload() })
    } catch (failure) {
      error.textContent = failure.message
    }
  }, { class: "primary", icon: "send" })
  const content = element("div", {})
  container.replaceChildren(element("div", { class: "welcome" },
    icon("martlet", 40), element("h2", {}, "Waiting for the first push"),
    element("p", { class: "faint" }, "Any device token and any signing key is accepted. Nothing reaches a real device."),
    content, element("div", { class: "actions" }, send, element("a", { href: "#/connect" }, "All clients and addresses")), error))
  const { recipes } = await request("/api/v1/recipes").catch(() => ({ recipes: [] }))
  const found = Object.fromEntries(recipes.filter(({ name }) => Object.hasOwn(clients, name)).map((recipe) => [recipe.name, recipe]))
  if (Object.keys(found).length === 0) return
  const select = (name) => {
    const text = found[name].lines ?? found[name].shell
    code.textContent = text
    code.setAttribute("aria-label", clients[name])
    copy.replaceChildren(copyButton("Copy", text, { class: "small", "aria-label": `Copy the ${clients[name]} example` }))
  }
  const first = Object.keys(found)[0]
  select(first)
  content.replaceChildren(tabs("Clients", Object.fromEntries(Object.keys(found).map((name) => [name, clients[name]])), first, select),
    element("div", { class: "recipe-box" }, code, copy))
}
