import type { Context } from "hono"
import type { ClientResult, MessageInput } from "../../../agent/input.ts"
import type { AskedAnswer } from "../../../dialects/openai/asked-answer.ts"
import { type Brought, CLIENT_HISTORY } from "../../../protocol/conversation/brought.ts"
import { failure } from "../../../protocol/errors.ts"
import { newId } from "../../../protocol/ids.ts"
import { toClientContext } from "../../conversation/client-context.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"

/** Of a run that calls functions of its program: who declares some wants them called, and each reply that does counts. */
const MAX_ITERATIONS = 20

/** Characters that come along with the words, in all and for one thing. */
const ROOM = { all: 64_000, one: 48_000 }

interface SaidMessage {
  readonly message: MessageInput
  /** Fields that were sent and passed over. */
  readonly ignored: readonly string[]
}

/**
 * The words of a request with what comes along. A program is no place where a person agrees: it asks about every write,
 * whatever the mode and the grants of its conversation are.
 */
export function toAskedMessage(
  c: Context<Env>,
  asked: AskedAnswer,
  { goesOn, results }: { readonly goesOn: boolean; readonly results: readonly ClientResult[] },
): SaidMessage {
  const { words = "", before, settings, schema, functions } = asked
  const remembersItself = goesOn && !before.isNew && before.lines.length > 0
  const brought = toBrought(asked, goesOn)
  const message: MessageInput = {
    ...{ type: "message", id: newId("msg", userOf(c)), text: words, when: "reject" },
    ...spokenBy(c.get("caller")),
    asks: true,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(schema ? { schema } : {}),
    ...(functions.length > 0 ? { clientTools: functions, maxIterations: MAX_ITERATIONS } : {}),
    ...(results.length > 0 ? { results: { type: "client_results", results, by: userOf(c) } as const } : {}),
    ...(brought.length > 0 ? { brought } : {}),
  }
  return { message, ignored: [...(remembersItself ? [before.field] : []), ...asked.ignored] }
}

/** Rules, and what is said for the first time, are told whole or refused; of what a client remembers the newest is told. */
function toBrought({ instructions, before }: AskedAnswer, goesOn: boolean): Brought[] {
  const whole: [name: string, lines: readonly string[]][] = [["instructions", instructions]]
  if (goesOn && before.isNew) whole.push([before.field, before.lines])
  let left = ROOM.all
  for (const [name, lines] of whole) {
    const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
    if (length > Math.min(left, ROOM.one))
      throw failure("bad_request", { problem: tooLong(name, Math.min(left, ROOM.one)) })
    left -= length
  }
  const history = goesOn ? [] : toClientContext([[CLIENT_HISTORY, before.lines]], { all: left, one: ROOM.one })
  return [...history, ...toClientContext(whole, ROOM)]
}

const tooLong = (name: string, most: number): string =>
  `${name}: longer than the ${most} characters that there is room for beside the last message.`
