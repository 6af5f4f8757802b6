import { isImageType, type MessageFile } from "../../protocol/conversation/message.ts"
import { isTextType } from "../../protocol/conversation/tool-calls.ts"
import type { CallResult, HistoryMessage, Model } from "../model.ts"

/** The size of a message. Results are counted when they arrive. */
export function messageTokens(message: HistoryMessage): number {
  if (message.role === "user") return estimateTokens(message.text) + filesTokens(message.files?.items)
  if (message.role === "tool") return 0
  return message.parts.reduce((sum, part) => {
    return sum + estimateTokens(part.type === "call" ? part.name + JSON.stringify(part.input) : part.text)
  }, 0)
}

/** The size of a result, with its files. */
export const resultTokens = ({ text, files }: CallResult): number => estimateTokens(text) + filesTokens(files?.items)

/** About four bytes of UTF-8 per token, which holds for English, code and (three bytes a character) Chinese. */
export const estimateTokens = (text: string): number => 4 + Math.ceil(Buffer.byteLength(text) / 4)

/** The start of a text, up to this number of tokens. */
export function withinTokens(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text
  // Whole characters only.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, Math.floor(tokens) - 4) * 4))
  return text.slice(0, read)
}

/** Bytes of files in one request: the smallest limit of all providers, with space for the text. */
export const MAX_BYTES_SHOWN = 16 * 1024 * 1024
/** The shares of a model's context for the text of one file, and of all files. */
export const TEXT_SHARE = 0.25
export const ALL_TEXT_SHARE = 0.5

/** The most bytes of one file's text, independent of the context window. */
export const MAX_TEXT_OF_FILE = 100_000

/** The most tokens that providers count for an image, and how many pixels make a token. */
const MAX_IMAGE_TOKENS = 1600
const PIXELS = 750
/** The approximate bytes of a page of a document, which counts as its text and an image. */
const PAGE_BYTES = 40_000
const PAGE_TOKENS = 2000
const MAX_PDF_TOKENS = 60_000

/**
 * The estimated size of files in a model's context. It depends on the journal only, so that every node gets the same
 * state.
 */
const filesTokens = (files: readonly MessageFile[] = []): number =>
  files.reduce((sum, file) => sum + estimateFileTokens(file), 0)

/** The estimated size of one file. */
export function estimateFileTokens(file: Pick<MessageFile, "type" | "size" | "width" | "height">): number {
  const { type, size, width = 1000, height = 1000 } = file
  if (isImageType(type)) return Math.min(MAX_IMAGE_TOKENS, Math.ceil((width * height) / PIXELS)) + 50
  if (type !== "application/pdf" && !isTextType(type)) return SENTENCE_TOKENS
  if (type === "application/pdf") return Math.min(MAX_PDF_TOKENS, Math.ceil(size / PAGE_BYTES) * PAGE_TOKENS)
  return Math.ceil(Math.min(size, MAX_TEXT_OF_FILE) / 4) + 50
}

/** The files of a message or of results. */
function filesOf(turn: HistoryMessage): readonly MessageFile[] {
  if (turn.role === "user") return turn.files?.items ?? []
  return turn.role === "tool" ? turn.results.flatMap(({ files }) => files?.items ?? []) : []
}

/** A file that is not shown is a sentence. */
const SENTENCE_TOKENS = 100

/**
 * How much the estimate exceeds what this model is shown of the files. A model with a small context gets only the
 * beginning of a text, and a run must not forget its own steps for the rest.
 */
export function overcounted(history: readonly HistoryMessage[], { contextTokens, sees }: Model): number {
  let counted = 0
  let whole = 0
  let text = 0
  for (const file of history.flatMap(filesOf)) {
    const tokens = estimateFileTokens(file)
    counted += tokens
    const isPdfShown = file.type === "application/pdf" && sees?.files === true && file.size <= MAX_BYTES_SHOWN
    if (isImageType(file.type)) whole += sees?.images ? tokens : SENTENCE_TOKENS
    else if (isPdfShown || tokens === SENTENCE_TOKENS) whole += tokens
    else {
      whole += SENTENCE_TOKENS
      text += Math.min(tokens, contextTokens * TEXT_SHARE)
    }
  }
  return Math.max(0, counted - whole - Math.min(text, contextTokens * ALL_TEXT_SHARE))
}
