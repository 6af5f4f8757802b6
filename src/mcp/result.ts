import { withoutSecrets } from "../agent/calls/without-secrets.ts"
import { type Answer, answer, type CallContext, failed } from "../agent/definition/tool.ts"
import { MAX_FILES, type MessageFile } from "../protocol/conversation/message-file.ts"
import type { ResultFiles } from "../protocol/conversation/result-files.ts"
import { hasCode } from "../protocol/errors.ts"
import { plainWords } from "./definition/tool-facts.ts"
import { type ResultBlock, toBlock } from "./result-block.ts"

/** Characters of all texts of a result together: what is longer is cut, and again where it is kept. */
const MAX_TEXT = 200_000

/** The call that a file comes with. */
export type BringingCall = Pick<CallContext, "user" | "conversation" | "callId">

/** Keeps what a result has brought as a file of its conversation, before anything names it, and says what it is. */
export interface ResultFileKeeper {
  keep(call: BringingCall, file: { readonly name: string; readonly bytes: Uint8Array }): Promise<MessageFile>
}

export interface Answering {
  readonly tool: string
  readonly secrets: readonly string[]
  readonly call: BringingCall
  readonly files: ResultFileKeeper
}

/**
 * What a server has answered: words, and files of the conversation. It never throws, for what was done is done: a file that
 * cannot be kept is told of in words.
 */
export async function toAnswer(result: unknown, answering: Answering): Promise<Answer> {
  const { tool, secrets } = answering
  const { content, structuredContent, isError } = (result ?? {}) as Record<string, unknown>
  const blocks: unknown[] = Array.isArray(content) ? content : []
  const files: MessageFile[] = []
  const words: string[] = []
  for (const [index, each] of blocks.entries()) {
    const block = toBlock(each, { name: `${tool}-${index + 1}`, secrets })
    const text = block.type === "words" ? block.text : await kept(block, files, answering)
    if (text !== "") words.push(text)
  }
  if (words.length === 0 && structuredContent !== undefined) words.push(structured(structuredContent))
  const text = plainWords(withoutSecrets(words.join("\n\n"), secrets).slice(0, MAX_TEXT)) || "[It answered nothing.]"
  const data: ResultFiles = { kind: "files", files }
  const more = files.length > 0 ? { data } : {}
  return isError === true ? failed(text, more) : answer(text, more)
}

function structured(content: unknown): string {
  try {
    return JSON.stringify(content)
  } catch {
    return "[Something that is not shown: it is nested too deep.]"
  }
}

/** Adds it to the files, and says so in words; or why not. */
async function kept(
  { what, name, bytes }: Extract<ResultBlock, { type: "bytes" }>,
  files: MessageFile[],
  { secrets, call, files: keeper }: Answering,
): Promise<string> {
  const notKept = (why: string) => `[${what} of ${bytes.length} bytes that is not kept: ${why}.]`
  if (files.length >= MAX_FILES) return notKept(`a result may bring ${MAX_FILES} files`)
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (secrets.some((secret) => content.includes(secret)))
    return notKept("it holds what its server was told in confidence")
  try {
    const file = await keeper.keep(call, { name: withoutSecrets(name, secrets), bytes })
    files.push(file)
    const pixels = file.width && file.height ? `, ${file.width} × ${file.height} pixels` : ""
    return `[${what} kept as ${JSON.stringify(file.name)} (${file.type}, ${file.size} bytes${pixels}).]`
  } catch (error) {
    return notKept(hasCode(error, "files_full") ? "there is no more room for files of tools" : "it could not be stored")
  }
}
