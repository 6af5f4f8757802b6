import { useSyncExternalStore } from "react"
import enStart from "./en/start.ts"
import type enRest from "./en/rest.ts"

/** The languages of the page, each by its own name. A new one is a line here, one in `CATALOGUES`, and a folder. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const
export type Language = keyof typeof LANGUAGES

type Start = typeof enStart
type Rest = typeof enRest
export type Catalogue = Start & Rest

interface Source {
  /** Text of the first screen. */
  readonly start: () => Promise<Start>
  /** Text of pages that are loaded later. */
  readonly rest: () => Promise<Rest>
}

/** English is part of the first load, so that the page always has words; another language is loaded only if chosen. */
const CATALOGUES: Readonly<Record<Language, Source>> = {
  en: {
    start: () => Promise.resolve(enStart),
    rest: () => import("./en/rest.ts").then((file) => file.default),
  },
  de: {
    start: () => import("./de/start.ts").then((file) => file.default),
    rest: () => import("./de/rest.ts").then((file) => file.default),
  },
}

const KEY = "pawl.language"
const listeners = new Set<() => void>()
let language: Language = "en"
let messages: Partial<Catalogue> = enStart
/** Whether a page has asked for the rest: then it is loaded together with another language. */
let isRestWanted = false

export const currentLanguage = (): Language => language
export const currentMessages = (): Partial<Catalogue> => messages

/** Draws the caller again when the language changes. The root of the page is enough, keyed by what this returns. */
export const useLanguage = (): Language =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentLanguage)

/** The language tag for dates, numbers and lists: the browser's own region of the chosen language, such as `de-AT`. */
export const locale = (): string => browserLanguages().find((each) => languageOf(each) === language) ?? language

/** Loads the language that was chosen in this browser, else the browser's first that the page has; else English. */
export async function startLanguage(): Promise<void> {
  const chosen =
    readChosen() ??
    browserLanguages()
      .map(languageOf)
      .find((each) => each !== undefined)
  // Its file may be gone after an update of the server: the page then starts in English.
  if (chosen !== undefined) await show(chosen).catch(() => undefined)
}

/** Switches the page to a language and remembers it in this browser. Rejects if the language cannot be loaded. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await show(chosen)
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // The browser refuses storage: the choice holds until the page is closed.
  }
}

/** Loads the messages of everything that is not part of the first load. */
export async function loadRest(): Promise<void> {
  isRestWanted = true
  const loading = language
  const rest = await CATALOGUES[loading].rest()
  // Another language that was chosen meanwhile loaded its own rest.
  if (loading === language) messages = { ...messages, ...rest }
}

/** For a part of the page that is loaded later: its code together with its messages. */
export const withStrings = async <Loaded>(load: () => Promise<Loaded>): Promise<Loaded> =>
  (await Promise.all([load(), loadRest()]))[0]

async function show(chosen: Language): Promise<void> {
  const source = CATALOGUES[chosen]
  const [start, rest] = await Promise.all([source.start(), isRestWanted ? source.rest() : {}])
  messages = { ...start, ...rest }
  language = chosen
  for (const listener of listeners) listener()
}

function readChosen(): Language | undefined {
  try {
    return languageOf(localStorage.getItem(KEY) ?? "")
  } catch {
    return undefined
  }
}

function languageOf(tag: string): Language | undefined {
  const [primary = ""] = tag.toLowerCase().split("-")
  return Object.hasOwn(LANGUAGES, primary) ? (primary as Language) : undefined
}

const browserLanguages = (): readonly string[] => (typeof navigator === "undefined" ? [] : (navigator.languages ?? []))
