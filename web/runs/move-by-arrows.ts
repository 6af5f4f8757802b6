import type { KeyboardEvent } from "react"

/** Up and down go from line to line of a list, whose lines say `data-line`. */
export function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-line]")]
  const now = lines.indexOf(event.target as HTMLElement)
  if (step === undefined || now === -1) return
  event.preventDefault()
  lines[now + step]?.focus()
}
