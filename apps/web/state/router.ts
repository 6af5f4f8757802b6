import { useSyncExternalStore } from "react"
import { base } from "./client.ts"

/** The addresses of the page: paths below `base` in the browser's history. */
const listeners = new Set<() => void>()

export function navigate(path: string, { replace = false } = {}): void {
  if (path === currentPath()) return
  history[replace ? "replaceState" : "pushState"](null, "", base + path)
  tell()
}

export const usePath = (): string => useSyncExternalStore(subscribe, currentPath)

export const currentPath = (): string => location.pathname.slice(base.length) || "/"

/** Parameters of a path: `/c/:id` and `/c/conv_1` give `{ id: "conv_1" }`; undefined if they do not match. */
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

/** A typed address may be malformed. */
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
  // Not at module level: Markdown is also drawn where there is no window.
  window.addEventListener("popstate", listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener("popstate", listener)
  }
}
