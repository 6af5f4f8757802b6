import { writeFile } from "node:fs/promises"
import type { Conversation } from "../agent/conversation.ts"
import { RecentSecrets } from "../models/recent-secrets.ts"
import { AppError, failure } from "../protocol/errors.ts"
import { newId } from "../protocol/ids.ts"
import { Mode } from "../protocol/schema.ts"
import { CommandError, readFlags } from "./command.ts"
import { readConfig } from "./config.ts"
import { jsonPrinter, type Printer, textPrinter } from "./exec-printer.ts"
import { createLog } from "./log.ts"
import { type Opened, openFromConfig, userName } from "./open.ts"
import { readStdin } from "./stdin.ts"
import { warn } from "./warn.ts"

export const help = `Usage: pawl exec "request" [flags]

Runs one request in a conversation of its own and prints the answer as it comes. What tools do is shown on stderr. What
comes in on standard input is added to the request.

  --mode MODE     read-only, confirm (default) or auto: what becomes of changes
  --model NAME    which model answers (PAWL_MODEL)
  --agent NAME    which agent (default: workspace)
  --json          print events as JSON lines instead of text
  -o FILE         also write the last answer to a file

Exit codes: 0 done, 1 wrong usage or settings, 2 a change needs to be confirmed (nothing was changed; stderr names the
tool), 3 failed, 130 cancelled.
`

const flags = {
  mode: { type: "string" },
  model: { type: "string" },
  agent: { type: "string" },
  json: { type: "boolean" },
  output: { type: "string", short: "o" },
} as const

const EXIT = { done: 0, needsConfirmation: 2, failed: 3, cancelled: 130 }

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("exec", words, flags)
  const mode = Mode.safeParse(values.mode ?? "confirm")
  if (!mode.success) throw new CommandError(`--mode cannot be "${values.mode}". Allowed: ${Mode.options.join(", ")}.`)
  const text = [positionals.join(" "), await readStdin()].filter((part) => part.trim() !== "").join("\n\n")
  if (text === "") throw new CommandError('Say what to do: pawl exec "list my tasks"')
  const config = readConfig()
  warn(config)
  const secrets = new RecentSecrets(config.secrets)
  const printer = values.json ? jsonPrinter() : textPrinter()
  await using opened = await openFromConfig(config, createLog(secrets, undefined, config.log), { recent: secrets })
  try {
    const request: Request = { text, mode: mode.data, agent: values.agent ?? "workspace", model: values.model }
    const conversation = await carryOut(opened, request, printer)
    if (values.output !== undefined) await writeFile(values.output, `${printer.answer}\n`)
    return report(conversation, printer)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    printer.fail(error)
    return EXIT.failed
  }
}

interface Request {
  readonly text: string
  readonly mode: Mode
  readonly agent: string
  readonly model: string | undefined
}

async function carryOut({ store, runtime, models }: Opened, request: Request, printer: Printer): Promise<Conversation> {
  const { text, mode, agent } = request
  if (mode === "auto" && runtime.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode })
  const person = await store.people.ensure(userName(), Date.now())
  const chosen = request.model === undefined ? undefined : await models.get(request.model, person.id)
  const id = newId("conv")
  const unsubscribe = runtime.ports.bus.subscribe(id, (live) => printer.show(live))
  const letGo = cancelOnSignal(() => runtime.submit(id, { type: "cancel", by: person.id }))
  try {
    const model = chosen ? { model: chosen.name, provider: chosen.provider } : {}
    const message = { type: "message", id: newId("msg"), text, when: "queue" } as const
    await runtime.begin({ id, user: person.id, agent, mode, ...model }, message)
    await runtime.rest(id)
    return await runtime.ports.journal.load(id, true)
  } finally {
    letGo()
    unsubscribe()
  }
}

/** The first Ctrl-C cancels the run in good order, the second one ends the process. */
function cancelOnSignal(cancel: () => Promise<unknown>): () => void {
  let asked = false
  const stop = () => {
    if (asked) process.exit(EXIT.cancelled)
    asked = true
    cancel().catch(() => process.exit(EXIT.cancelled))
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop)
  return () => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop)
  }
}

function report({ run, proposals }: Conversation, printer: Printer): number {
  if (run?.status === "completed") {
    printer.end("completed")
    return EXIT.done
  }
  if (run?.status === "cancelled") {
    printer.end("cancelled")
    return EXIT.cancelled
  }
  if (run?.status === "failed") {
    printer.fail(run.error ?? failure("internal"))
    return EXIT.failed
  }
  for (const { proposed, status } of proposals.values()) printer.ask(proposed, status === "in_doubt")
  printer.end("paused")
  return EXIT.needsConfirmation
}
