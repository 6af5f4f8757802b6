import { readFile, stat } from "node:fs/promises"
import { isFrame } from "../../client/index.ts"
import { answerSchema } from "../../models/answer-schema.ts"
import { AppError } from "../../protocol/errors.ts"
import type { UnknownFrame } from "../../protocol/frames.ts"
import { escapeHidden } from "../../protocol/text/hidden-characters.ts"
import type { JsonObject } from "../../protocol/schema.ts"
import { CommandError } from "../process/command.ts"
import type { Printer } from "./exec-printer.ts"

const MAX_BYTES = 256 * 1024

/** The schema of `--schema`, read and judged before anything is asked: an answer that nobody can check is not paid for. */
export async function readSchemaFile(path: string): Promise<JsonObject> {
  const refuse = (problem: string) => new CommandError(`--schema ${path}: ${problem} Nothing was asked.`)
  const { size } = await stat(path).catch(() => ({ size: -1 }))
  if (size < 0) throw refuse("there is no such file.")
  if (size > MAX_BYTES) throw refuse(`it has ${size} bytes, and at most ${MAX_BYTES} are read.`)
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, "utf8"))
  } catch (error) {
    throw refuse(`it is not JSON: ${(error as Error).message.slice(0, 200)}.`)
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw refuse('a JSON schema is an object, such as {"type": "object"}.')
  try {
    await answerSchema(json as JsonObject)
  } catch (error) {
    if (error instanceof AppError) throw refuse(error.message)
    throw error
  }
  return json as JsonObject
}

/** Prints nothing but the JSON that fits, when it is there; what happens on the way is told on stderr. */
export function schemaPrinter(): Printer & { readonly hasAnswer: boolean } {
  let answer: string | undefined
  const note = (line: string) => void process.stderr.write(`${escapeHidden(line)}\n`)
  return {
    get hasAnswer() {
      return answer !== undefined
    },
    get answer() {
      return answer ?? ""
    },
    begin() {},
    show(frame: UnknownFrame) {
      if (isFrame(frame, "tool_end")) note(`< ${frame.data.name}: ${frame.data.status} (${frame.data.ms} ms)`)
      if (!isFrame(frame, "step") || frame.data.step !== "answer") return
      const { fits, value, problem } = frame.data.detail as { fits?: boolean; value?: unknown; problem?: string }
      if (fits) answer = JSON.stringify(value)
      else note(`(the answer does not fit: ${problem ?? ""})`)
    },
    ask: ({ tool, summary }) => note(`${tool} needs your confirmation: ${summary}`),
    fail: ({ message }) => note(`pawl: ${message}`),
    end(_, ending) {
      if (answer !== undefined) return void process.stdout.write(`${answer}\n`)
      note(`pawl: there is no answer that fits the schema${ending?.says ? `: ${ending.says}` : ""}.`)
    },
  }
}
