import { useSyncExternalStore } from "react"
import { Store, useStore } from "./store.ts"

export type Theme = "system" | "light" | "dark"

const KEY = "pawl.theme"

/** The person's choice; without one, the system's setting. */
export const theme = new Store<Theme>(read())
show(theme.value)

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen)
  show(chosen)
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // Storage is blocked: the choice holds until the page is closed.
  }
}

const system = matchMedia("(prefers-color-scheme: dark)")

/** Whether the dark theme is active. Follows changes of the system's setting. */
export function useDark(): boolean {
  const chosen = useStore(theme)
  const isDark = useSyncExternalStore(
    (listener) => {
      system.addEventListener("change", listener)
      return () => system.removeEventListener("change", listener)
    },
    () => system.matches,
  )
  return chosen === "dark" || (chosen === "system" && isDark)
}

/** Switches to the other theme; follows the system again if that has the same one. */
export function toggleTheme(): void {
  const usual = system.matches ? "dark" : "light"
  const seen = theme.value === "system" ? usual : theme.value
  const other = seen === "dark" ? "light" : "dark"
  chooseTheme(other === usual ? "system" : other)
}

function show(chosen: Theme): void {
  if (chosen === "system") document.documentElement.removeAttribute("data-theme")
  else document.documentElement.dataset.theme = chosen
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === "light" || kept === "dark" ? kept : "system"
  } catch {
    return "system"
  }
}
