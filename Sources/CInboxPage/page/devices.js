import { heading } from "./pages.js"

export function open(place) {
  place.replaceChildren(...heading("Devices", ""))
}
