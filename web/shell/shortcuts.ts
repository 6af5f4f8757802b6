import { useEffect, useRef } from "react"

interface Shortcuts {
  readonly search: () => void
  readonly fresh: () => void
}

/** Ctrl+K (⌘K) searches, N begins anew. Escape, which stops a run, belongs to the conversation. */
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

/** A dialog or a menu is open, and keys are meant for it. */
export const isCovered = (): boolean => document.querySelector("dialog[open], [role=menu], [role=listbox]") !== null

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
