/** The messages between the page and the drawing frame. Both sides validate what they receive. */

export interface Draw {
  readonly type: "draw"
  /** Identifies the drawing; other messages are ignored. */
  readonly nonce: string
  readonly spec: Readonly<Record<string, unknown>>
  readonly dark: boolean
  readonly width: number
  /** The language tag for numbers and months; without it, the browser's. */
  readonly locale?: string
}

export type Format = "svg" | "png"

export interface Save {
  readonly type: "save"
  readonly nonce: string
  readonly format: Format
}

export type ToFrame = Draw | Save

export type FrameMessage =
  | { readonly type: "ready" }
  /** `marks`: the number of data marks in the drawing. */
  | {
      readonly type: "drawn"
      readonly nonce: string
      readonly width: number
      readonly height: number
      readonly marks: number
    }
  /** `reason`: a code that the page has a message for, else the message of the library. */
  | { readonly type: "failed"; readonly nonce: string; readonly reason: string }
  | { readonly type: "saved"; readonly nonce: string; readonly format: Format; readonly bytes: ArrayBuffer }

/** Larger drawings are refused. */
export const MAX_BYTES = 8 * 1024 * 1024
export const MAX_REASON = 300

type Fields = Readonly<Record<string, unknown>>

export function readToFrame(data: unknown): ToFrame | undefined {
  if (!isFields(data) || !isNonce(data.nonce)) return undefined
  const { type, nonce, spec, dark, width, locale, format } = data
  if (type === "draw" && isFields(spec) && typeof dark === "boolean" && isLength(width)) {
    return { type, nonce, spec, dark, width, ...(isLanguageTag(locale) ? { locale } : {}) }
  }
  return type === "save" && isFormat(format) ? { type, nonce, format } : undefined
}

export function readFromFrame(data: unknown): FrameMessage | undefined {
  if (!isFields(data)) return undefined
  const { type, nonce, width, height, marks, reason, format, bytes } = data
  if (type === "ready") return { type }
  if (!isNonce(nonce)) return undefined
  if (type === "drawn" && isLength(width) && isLength(height) && isCount(marks))
    return { type, nonce, width, height, marks }
  if (type === "failed" && typeof reason === "string") return { type, nonce, reason: reason.slice(0, MAX_REASON) }
  if (type === "saved" && isFormat(format) && bytes instanceof ArrayBuffer && bytes.byteLength <= MAX_BYTES) {
    return { type, nonce, format, bytes }
  }
  return undefined
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isNonce = (value: unknown): value is string => typeof value === "string" && /^[\w-]{8,64}$/.test(value)
const isFormat = (value: unknown): value is Format => value === "svg" || value === "png"
const isLanguageTag = (value: unknown): value is string => typeof value === "string" && /^[\w-]{2,35}$/.test(value)
const isCount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0
const isLength = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= 20_000
