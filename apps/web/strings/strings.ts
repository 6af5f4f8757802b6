import { createElement, Fragment, type ReactNode } from "react"
import enStart from "./en/start.ts"
import { type Catalogue, currentMessages, locale } from "./language.ts"
import { fillMessage, parseMessage, type Part, type Values } from "./message.ts"

/** The name of a message: its file, a dot, its name in there, such as `inbox.empty`. */
export type Key = { [Area in keyof Catalogue]: `${Area}.${keyof Catalogue[Area] & string}` }[keyof Catalogue]

/**
 * The message in the chosen language, filled with values. Call it while drawing or when something happens, never at the
 * top of a module: the language is not known there, and may change later.
 */
export const t = (key: Key, values: Values = {}): string => pieces(key, values).join("")

/** The message in English, if it is part of the first load. */
export const english = (key: Key): string | undefined => {
  const [area, name] = key.split(".") as [keyof typeof enStart, string]
  return (enStart[area] as Readonly<Record<string, string>> | undefined)?.[name]
}

/**
 * The same with elements: `rich("inbox.in", { title: <Plain text={title} />, link: (inner) => <a href={…}>{inner}</a> })`
 * for `In <link>{title}</link>`. Sentences stay whole, so that each language orders its words as it needs.
 */
export function rich(key: Key, values: Readonly<Record<string, ReactNode | ((inner: ReactNode) => ReactNode)>>) {
  const inner = (tag: (inner: ReactNode) => ReactNode) => (parts: unknown[]) => tag(toNode(parts))
  const filled = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === "function" ? inner(value) : value] as const
  })
  return toNode(pieces(key, Object.fromEntries(filled)))
}

const toNode = (parts: readonly unknown[]): ReactNode =>
  createElement(Fragment, null, ...(parts as readonly ReactNode[]))

function pieces(key: Key, values: Values): unknown[] {
  const [area, name] = key.split(".") as [keyof Catalogue, string]
  const message = (currentMessages()[area] as Readonly<Record<string, string>> | undefined)?.[name]
  return message === undefined ? [key] : fillMessage(parsed(message), values, locale())
}

const known = new Map<string, readonly Part[]>()

function parsed(message: string): readonly Part[] {
  const parts = known.get(message) ?? parseMessage(message)
  known.set(message, parts)
  return parts
}
