import { readFile, stat } from "node:fs/promises"
import { isFrame } from "../../../client/index.ts"
import { answerSchema } from "../../../core/tools/json-schema/answer-schema.ts"
import { AppError } from "../../../core/protocol/errors.ts"
import type { UnknownFrame } from "../../../core/protocol/frames.ts"
import { escapeHidden, escapeHiddenJson } from "../../../core/shared/text/hidden-characters.ts"
import type { JsonObject } from "../../../core/protocol/schema.ts"
import { CommandError } from "../process/command.ts"
import type { Printer } from "./exec-printer.ts"
import { execText } from "../../strings/exec.ts"
import { failureReason, jsonPosition } from "../../../core/shared/text/system-errors.ts"

const MAX_BYTES = 256 * 1024

/**
 * Reads and checks the schema of `--schema` before the request is sent, so that no answer is paid for that cannot be
 * checked.
 */
export async function readSchemaFile(path: string): Promise<JsonObject> {
  const refuse = (problem: string) => new CommandError(execText.schemaProblem(path, problem))
  let json: unknown
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw refuse(execText.schemaTooLarge(size, MAX_BYTES))
    json = JSON.parse(await readFile(path, "utf8"))
  } catch (error) {
    if (error instanceof CommandError) throw error
    if (error instanceof SyntaxError) throw refuse(execText.schemaNotJson(jsonPosition(error)))
    throw refuse(execText.schemaUnreadable(failureReason(error)))
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw refuse(execText.schemaNotObject)
  try {
    await answerSchema(json as JsonObject, "cli")
  } catch (error) {
    if (error instanceof AppError) throw refuse(error.message)
    throw error
  }
  return json as JsonObject
}

/** Prints only the matching JSON, when it is complete; progress goes to stderr. */
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
      if (isFrame(frame, "tool_end")) note(execText.callEnded(frame.data.name, frame.data.status, frame.data.ms, ""))
      if (!isFrame(frame, "step") || frame.data.step !== "answer") return
      const { fits, value, problem } = frame.data.detail as { fits?: boolean; value?: unknown; problem?: string }
      if (fits) answer = JSON.stringify(value)
      else note(execText.answerDoesNotFit(problem ?? ""))
    },
    ask: ({ tool, summary }) => note(execText.approvalNeeded(tool, summary)),
    fail: ({ message }) => note(execText.error(message)),
    end(_, ending) {
      if (answer !== undefined) return void process.stdout.write(`${escapeHiddenJson(answer)}\n`)
      note(execText.noFittingAnswer(ending?.remark))
    },
  }
}
