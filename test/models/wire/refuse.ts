import { z } from "zod"

/** A request as it is sent, and the model that receives it. */
export interface WireRequest {
  /** Our name of the model. */
  readonly model: string
  readonly body: unknown
}

/** Throws, with the position and the reason, if a strict provider of this format would refuse the request. */
export type Check = (request: WireRequest) => void

export function refuse(place: string, problem: string): never {
  throw new Error(`${place}: ${problem}`)
}

/** The body, if it has these fields and no others. */
export function shaped<Shape extends z.ZodType>(schema: Shape, body: unknown): z.infer<Shape> {
  const read = schema.safeParse(body)
  if (read.success) return read.data
  return refuse("shape", z.prettifyError(read.error))
}

/** A text that is not empty, without lone surrogates: both are refused by some. */
export const words = z
  .string()
  .refine((text) => /[^\s\p{Cc}]/u.test(text), "is blank")
  .refine((text) => text.isWellFormed(), "has half a character")
/** A result may be empty, but has to be well formed, too. */
export const anyWords = z.string().refine((text) => text.isWellFormed(), "has half a character")

export const toolName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
export const callId = z.string().regex(/^[a-zA-Z0-9_-]{1,40}$/)

export const argumentsText = z.string().refine((text) => {
  const value: unknown = JSON.parse(text)
  return typeof value === "object" && value !== null && !Array.isArray(value)
}, "is no JSON object")

export const objectSchema = z.looseObject({ type: z.literal("object"), properties: z.record(z.string(), z.unknown()) })

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const MAX_IMAGE_BASE64 = 5_250_000

export const base64 = z.string().min(4).max(MAX_IMAGE_BASE64).regex(BASE64)
export const imageType = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"])
const [IMAGE_URL, PDF_URL] = [/^data:image\/(?:png|jpeg|gif|webp);base64,/, /^data:application\/pdf;base64,/]
const dataUrl = (start: RegExp) =>
  z.string().refine((url) => start.test(url) && BASE64.test(url.replace(start, "")), "is no such file")
export const imageUrl = dataUrl(IMAGE_URL)
export const pdfUrl = dataUrl(PDF_URL)

/** The sequence of calls and results, whatever a format calls them. */
export class Pairs {
  readonly #ids = new Set<string>()
  #open: { readonly id: string; readonly name: string }[] = []

  call(id: string, name: string, place: string): void {
    if (this.#ids.has(id)) refuse(place, `the id ${id} is used twice`)
    this.#ids.add(id)
    this.#open.push({ id, name })
  }

  /** Results come in the order of the calls, so that each is matched without guessing. */
  result(id: string, place: string, name?: string): void {
    const call = this.#open.shift()
    if (call?.id !== id) refuse(place, `the result of ${id} stands where that of ${call?.id ?? "no call"} belongs`)
    if (name !== undefined && name !== call.name) refuse(place, `${id} called ${call.name}, its result says ${name}`)
  }

  /** Another kind of content starts. */
  closed(place: string): void {
    if (this.#open.length > 0) refuse(place, `${this.#open.map(({ id }) => id).join()} has no result before this`)
  }

  /** At the end of a request. */
  end(tools: readonly string[]): void {
    this.closed("end")
    if (new Set(tools).size < tools.length) refuse("tools", "a name is declared twice")
    if (this.#ids.size > 0 && tools.length === 0) refuse("tools", "there are calls but no tools are declared")
  }
}

/** The thinking that the fake providers write, which names its model. */
export const thoughtOf = (model: string): string => `Thought by <${model}>.`
export const sealOf = (model: string, number: number): string =>
  Buffer.from(`sealed by <${model}> ${number}!!`.padEnd(60, "=")).toString("base64")

/**
 * Rules for the whole request: no lone surrogate, no NUL, and thinking, encrypted or not, is sent back only to its own
 * model.
 */
export function checkThroughout({ model, body }: WireRequest): void {
  const text = JSON.stringify(body)
  if (/(?<!\\)(?:\\\\)*\\u(?:d[89a-f]|0000)/.test(text)) refuse("text", "half a character, or a zero")
  for (const [, name] of text.matchAll(/Thought by <([^>]+)>/g))
    if (name !== model) refuse("thinking", `a thought of ${name} is shown to ${model}`)
  for (const [sealed] of text.matchAll(/c2VhbGVkIGJ5[A-Za-z0-9+/=]+/g)) {
    const name = /<([^>]+)>/.exec(Buffer.from(sealed, "base64").toString())?.[1]
    if (name !== model) refuse("thinking", `a seal of ${name} is shown to ${model}`)
  }
}
