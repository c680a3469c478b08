// SPDX-License-Identifier: Apache-2.0

// The language of the phone: its date, its clock, its direction, and the words of the system.

import { phoneLanguage } from "./strings.js"

/** The words of iOS by language: Notification Center, (scheduled) summary, on and off. A language without one has English. */
const words = {
  en: ["Notification Center", "Summary", "On", "Off"],
  ar: ["مركز الإشعارات", "الملخص"],
  de: ["Mitteilungszentrale", "Übersicht", "Ein", "Aus"],
  es: ["Centro de notificaciones", "Resumen", "Activado", "Desactivado"],
  fr: ["Centre de notifications", "Résumé", "Activé", "Désactivé"],
  it: ["Centro Notifiche", "Riepilogo"],
  ja: ["通知センター", "要約", "オン", "オフ"],
  ko: ["알림 센터", "요약", "켬", "끔"],
  nl: ["Berichtencentrum", "Samenvatting", "Aan", "Uit"],
  pt: ["Central de Notificações", "Resumo"],
  tr: ["Bildirim Merkezi", "Özet", "Açık", "Kapalı"],
  "zh-Hans": ["通知中心", "摘要"],
  "zh-Hant": ["通知中心", "摘要"],
}
const [center, summary, on, off] = [0, 1, 2, 3]
/** The languages whose words are known. */
export const phoneLanguages = Object.keys(words)

const word = (index) => {
  const language = phoneLanguage()
  return (words[language] ?? words[language.split("-")[0]])?.[index] ?? words.en[index]
}
export const centerTitle = () => word(center)
export const summaryTitle = () => word(summary)
export const stateOf = (isOn) => word(isOn ? on : off)

/** Formats for the phone's language; English formats for a tag that the browser does not know. */
function formats() {
  const [locale] = Intl.DateTimeFormat.supportedLocalesOf(phoneLanguage())
  return locale ?? "en"
}
const dateOf = (push) => new Date(push.time ? push.time * 1000 : Date.now())

/** A time as the status bar of the phone shows it: without AM or PM. */
export const clock = (date) => new Intl.DateTimeFormat(formats(), { hour: "numeric", minute: "2-digit" }).formatToParts(date)
  .filter(({ type }) => type !== "dayPeriod").map(({ value }) => value).join("").trim()
/** The time at which a push arrived. */
export const timeOf = (push) => clock(dateOf(push))
export const dayOf = (push) => new Intl.DateTimeFormat(formats(), { weekday: "long", month: "long", day: "numeric" }).format(dateOf(push))
/** The age of a notification that has just arrived. */
export const now = () => new Intl.RelativeTimeFormat(formats(), { numeric: "auto" }).format(0, "second")
export const numberOf = (value) => new Intl.NumberFormat(formats()).format(value)
/** The English name of a language; its tag if there is none. */
export function languageName(language) {
  try { return new Intl.DisplayNames(["en"], { type: "language" }).of(language) } catch { return language }
}

/** The writing direction of the phone; a text has the direction of its own first letter. */
export const direction = () => (/^(ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/.test(phoneLanguage()) ? "rtl" : "ltr")
