import type { WebSearchSetting } from "../../../packs/research/search-provider.ts"

/**
 * The allowed text of a variable, and its conversion to a value. The same description is in the refusal and in the
 * reference.
 */
export interface SettingKind<Value> {
  readonly allowed: string
  /** Reads a text that is not blank. */
  readonly read: (text: string) => Value | Bad
}

/** The part that was not allowed: the whole text, or one item of a list. */
export class Bad {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export const anyText: SettingKind<string> = { allowed: "text", read: (text) => text }

export const textLike = (pattern: Pick<RegExp, "test">, allowed: string): SettingKind<string> => ({
  allowed,
  read: (text) => (pattern.test(text) ? text : new Bad(text)),
})

/** A kind with a reading function that returns undefined for a bad value. */
export const readBy = <Value>(read: (text: string) => Value | undefined, allowed: string): SettingKind<Value> => ({
  allowed,
  read: (text) => read(text) ?? new Bad(text),
})

interface Range {
  readonly least: number
  readonly most: number
  readonly whole?: boolean
}

export const numberFrom = ({ least, most, whole = false }: Range): SettingKind<number> => ({
  allowed: `a ${whole ? "whole " : ""}number from ${least} to ${most}`,
  read(text) {
    const number = Number(text)
    return number >= least && number <= most && (!whole || Number.isInteger(number)) ? number : new Bad(text)
  },
})

export const oneOf = <const Choice extends string>(choices: readonly Choice[]): SettingKind<Choice> => ({
  allowed: choices.join(" or "),
  read: (text) => choices.find((choice) => choice === text) ?? new Bad(text),
})

const ON = /^(?:1|true|yes|on)$/i
const OFF = /^(?:0|false|no|off)$/i

export const onOrOff: SettingKind<boolean> = {
  allowed: "1 or 0, true or false, yes or no, on or off",
  read: (text) => (ON.test(text) ? true : OFF.test(text) ? false : new Bad(text)),
}

export const httpAddress: SettingKind<string> = textLike(
  { test: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? "") },
  "an address such as https://pawl.example",
)

/** Split by commas; empty items are ignored. */
export const listOfItems = (isGood: (item: string) => boolean, allowed: string): SettingKind<readonly string[]> => ({
  allowed,
  read(text) {
    const items = text.split(",").map((item) => item.trim())
    const given = items.filter((item) => item !== "")
    const bad = given.find((item) => !isGood(item))
    return bad === undefined ? given : new Bad(bad)
  },
})

/** On, off, or the items themselves. */
export const onOffOr = <Value>(items: SettingKind<Value>): SettingKind<Value | boolean> => ({
  allowed: `on, off, or ${items.allowed}`,
  read(text) {
    const flag = onOrOff.read(text)
    return flag instanceof Bad ? items.read(text) : flag
  },
})

export const WEB_SEARCH_FORMS = "duckduckgo, brave:KEY, tavily:KEY, searxng:URL or off"

/** The search provider: a name, or a name with a key or an address; undefined for anything else. */
export function readWebSearch(text: string): WebSearchSetting | undefined {
  const [, provider = text, rest] = /^(\w+):(.+)$/.exec(text) ?? []
  const isAddress = rest !== undefined && /^https?:\/\/\S+$/.test(rest)
  switch (provider) {
    case "off":
      return rest === undefined ? { provider } : undefined
    case "brave":
    case "tavily":
      return rest !== undefined && /^[\x21-\x7e]+$/.test(rest) ? { provider, key: rest } : undefined
    case "searxng":
      return isAddress ? { provider, url: rest } : undefined
    case "duckduckgo":
      return rest === undefined ? { provider } : isAddress ? { provider, url: rest } : undefined
    default:
      return undefined
  }
}
