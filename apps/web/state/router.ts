import { useSyncExternalStore } from "react"
import { base } from "./client.ts"

/** The page's own addresses: paths below `base`, kept in the browser's history. */
const listeners = new Set<() => void>()

export function navigate(path: string, { replace = false } = {}): void {
  if (path === currentPath()) return
  history[replace ? "replaceState" : "pushState"](null, "", base + path)
  tell()
}

export const usePath = (): string => useSyncExternalStore(subscribe, currentPath)

export const currentPath = (): string => location.pathname.slice(base.length) || "/"

/** `/c/:id` and `/c/conv_1` give `{ id: "conv_1" }`; undefined where they do not fit. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split("/"), path.replace(/(?<=.)\/$/, "").split("/")]
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const word = given[index] ?? ""
    if (part.startsWith(":")) found[part.slice(1)] = decode(word)
    else if (part !== word) return undefined
  }
  return found
}

/** An address that somebody has typed may be none. */
function decode(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Not when this module loads: a reply with markdown is also drawn where there is no window.
  window.addEventListener("popstate", listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener("popstate", listener)
  }
}
