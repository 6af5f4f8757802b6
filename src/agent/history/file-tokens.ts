import { isImageType, type MessageFile } from "../../protocol/conversation/message-file.ts"
import { isTextType } from "../../protocol/conversation/result-files.ts"
import type { HistoryMessage, Model } from "../model.ts"

/** Bytes of files in one request: what the narrowest of the providers takes, with room for the words. */
export const MAX_BYTES_SHOWN = 16 * 1024 * 1024
/** The shares of a model's context that the text of one file may fill, and that of all. */
export const TEXT_SHARE = 0.25
export const ALL_TEXT_SHARE = 0.5

/** Bytes of the text of one file, whatever its model could read. */
export const MAX_TEXT_OF_FILE = 100_000

/** What providers take for an image at most, and for how many pixels they count a token. */
const MAX_IMAGE_TOKENS = 1600
const PIXELS = 750
/** A page of a document is about so many bytes, and is counted as its text and a picture of it. */
const PAGE_BYTES = 40_000
const PAGE_TOKENS = 2000
const MAX_PDF_TOKENS = 60_000

/** About what files take of a model's context. Made of what the journal says of them alone, so that a fold is the same everywhere. */
export const filesTokens = (files: readonly MessageFile[] = []): number =>
  files.reduce((sum, file) => sum + tokensOf(file), 0)

function tokensOf({ type, size, width = 1000, height = 1000 }: MessageFile): number {
  if (isImageType(type)) return Math.min(MAX_IMAGE_TOKENS, Math.ceil((width * height) / PIXELS)) + 50
  if (type !== "application/pdf" && !isTextType(type)) return SENTENCE_TOKENS
  if (type === "application/pdf") return Math.min(MAX_PDF_TOKENS, Math.ceil(size / PAGE_BYTES) * PAGE_TOKENS)
  return Math.ceil(Math.min(size, MAX_TEXT_OF_FILE) / 4) + 50
}

/** What came with a person's words, or with results. */
function filesOf(turn: HistoryMessage): readonly MessageFile[] {
  if (turn.role === "user") return turn.files?.items ?? []
  return turn.role === "tool" ? turn.results.flatMap(({ files }) => files?.items ?? []) : []
}

/** A file that is not shown is a sentence. */
const SENTENCE_TOKENS = 100

/**
 * By how much that is more than a model is shown of the files in a history: one with little context sees the beginning of a
 * text alone, and a run must not forget its own steps for the rest.
 */
export function overcounted(history: readonly HistoryMessage[], { contextTokens, sees }: Model): number {
  let counted = 0
  let whole = 0
  let text = 0
  for (const file of history.flatMap(filesOf)) {
    const tokens = tokensOf(file)
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
