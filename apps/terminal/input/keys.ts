import type { Key } from "ink"
import { own } from "../../../core/shared/text/json.ts"

/** The action of a key. */
export type Press =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type:
        | "enter"
        | "queue"
        | "newline"
        | "escape"
        | "interrupt"
        | "end-of-input"
        | "cycle-mode"
        | "complete"
        | "paste-image"
        | "redraw"
        | "suspend"
        | "left"
        | "right"
        | "word-left"
        | "word-right"
        | "line-start"
        | "line-end"
        | "up"
        | "down"
        | "page-up"
        | "page-down"
        | "delete-left"
        | "delete-right"
        | "delete-word"
        | "delete-to-start"
        | "delete-to-end"
    }

const CONTROL: Readonly<Record<string, Press["type"]>> = {
  a: "line-start",
  b: "left",
  c: "interrupt",
  d: "end-of-input",
  e: "line-end",
  f: "right",
  j: "newline",
  k: "delete-to-end",
  l: "redraw",
  n: "down",
  p: "up",
  u: "delete-to-start",
  v: "paste-image",
  w: "delete-word",
  z: "suspend",
}

const ALT: Readonly<Record<string, Press["type"]>> = { b: "word-left", f: "word-right" }

/** Several if a terminal sends fast typing at once; none for a key without a function. */
export function toPresses(input: string, key: Key): Press[] {
  if (key.eventType === "release") return []
  const one = named(input, key)
  if (one) return [{ type: one } as Press]
  // A letter with Ctrl or Alt is not text: otherwise Ctrl-Y and Enter would approve a change.
  if (input === "" || isModified(key)) return []
  return burst(input)
}

const isModified = (key: Key) => key.ctrl || key.meta || key.super || key.hyper

/** Fast typing, or a paste in a terminal without bracketed paste: text, and the keys between. */
function burst(input: string): Press[] {
  const presses: Press[] = []
  // A return at the end is Enter; before the end it is a line break of pasted text.
  const body = input.replaceAll("\r\n", "\r")
  for (const part of body.split(/([\x00-\x08\x0a-\x1f\x7f])/)) {
    if (part === "") continue
    const code = part.charCodeAt(0)
    if (code === 0x0d) presses.push({ type: "newline" })
    else if (code === 0x7f || code === 0x08) presses.push({ type: "delete-left" })
    else if (code < 0x20 && code !== 0x09) {
      const type = own(CONTROL, String.fromCharCode(code + 0x60))
      if (type) presses.push({ type } as Press)
    } else presses.push({ type: "text", text: part })
  }
  if (body.length > 1 && body.endsWith("\r")) presses[presses.length - 1] = { type: "enter" }
  return presses
}

function named(input: string, key: Key): Press["type"] | undefined {
  if (key.super || key.hyper) return undefined
  if (key.ctrl) return key.meta ? undefined : withControl(input, key)
  if (key.meta) return withAlt(input, key)
  if (key.return) return key.shift ? "newline" : "enter"
  if (input === "\n") return "newline"
  if (key.escape) return "escape"
  if (key.tab) return key.shift ? "cycle-mode" : "complete"
  if (key.backspace) return "delete-left"
  if (key.delete) return "delete-right"
  if (key.leftArrow) return "left"
  if (key.rightArrow) return "right"
  if (key.upArrow) return "up"
  if (key.downArrow) return "down"
  if (key.pageUp) return "page-up"
  if (key.pageDown) return "page-down"
  if (key.home) return "line-start"
  if (key.end) return "line-end"
  return undefined
}

function withControl(input: string, key: Key): Press["type"] | undefined {
  if (key.leftArrow) return "word-left"
  if (key.rightArrow) return "word-right"
  if (key.backspace) return "delete-word"
  return own(CONTROL, input)
}

function withAlt(input: string, key: Key): Press["type"] | undefined {
  if (key.return) return "queue"
  if (key.leftArrow) return "word-left"
  if (key.rightArrow) return "word-right"
  if (key.backspace) return "delete-word"
  // Esc twice in fast succession arrives as Esc with Alt.
  if (key.escape) return "escape"
  return own(ALT, input)
}
