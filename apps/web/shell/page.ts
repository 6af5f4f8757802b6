import { type ComponentType, type ReactNode, createContext, use, useEffect, useRef } from "react"
import type { Identity } from "../../../core/protocol/index.ts"
import type { Icon } from "../components/icons.tsx"
import type { Key } from "../strings/strings.ts"

/** A page: its path, its component, and its link in the sidebar. The list is in pages.tsx. */
export interface Page {
  /** Below the server's address; `:name` is a parameter. */
  readonly path: string
  readonly draw: (found: Readonly<Record<string, string>>) => ReactNode
  /** Its position in the sidebar, if any. With `tool` only if an agent has that tool. */
  readonly nav?: {
    readonly label: Key
    readonly icon: Icon
    readonly badge?: ComponentType
    readonly tool?: string
  }
}

interface ShellValue {
  readonly identity: Identity
  /** Shows the sidebar on a narrow screen. */
  readonly openDrawer: () => void
}

export const ShellContext = createContext<ShellValue | undefined>(undefined)

export function useShell(): ShellValue {
  const value = use(ShellContext)
  if (!value) throw new Error("This is shown outside the shell.")
  return value
}

interface Shortcuts {
  readonly search: () => void
  readonly fresh: () => void
}

/** Ctrl+K (⌘K) searches, N creates a conversation. Escape, which cancels a run, belongs to the conversation. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  useEffect(() => {
    latest.current = shortcuts
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isCovered()) return
      const withControl = event.ctrlKey || event.metaKey
      if (withControl && event.key.toLowerCase() === "k") {
        event.preventDefault()
        latest.current.search()
      } else if (event.key.toLowerCase() === "n" && !withControl && !event.altKey && !isWriting(event.target)) {
        event.preventDefault()
        latest.current.fresh()
      }
    }
    window.addEventListener("keydown", press)
    return () => window.removeEventListener("keydown", press)
  }, [])
}

/** Whether a dialog or menu is open, which receives the keys. */
export const isCovered = (): boolean => document.querySelector("dialog[open], [role=menu], [role=listbox]") !== null

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
