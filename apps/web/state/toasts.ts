import { Store } from "./store.ts"

export interface Toast {
  readonly key: number
  readonly text: string
  readonly tone: "plain" | "bad"
}

export const toasts = new Store<readonly Toast[]>([])

const SECONDS = 6
let made = 0

/** Shows a temporary message, for outcomes that are not visible on the page. */
export function toast(text: string, tone: Toast["tone"] = "plain"): void {
  const key = ++made
  toasts.set([...toasts.value, { key, text, tone }].slice(-3))
  setTimeout(() => dismiss(key), SECONDS * 1000)
}

export function dismiss(key: number): void {
  toasts.set(toasts.value.filter((each) => each.key !== key))
}
