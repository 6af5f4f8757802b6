import { type Client, ClientError, isFrame } from "../../client/index.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import { AppError, failure } from "../../protocol/errors.ts"
import type { ReplySettings } from "../../protocol/conversation/reply-settings.ts"
import { titleOf } from "../../protocol/conversation/title.ts"
import { type JsonObject, Mode } from "../../protocol/schema.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { readConfig, readPersonalConfig } from "../settings/config.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { findInDoubt, tellDoubt } from "./exec-doubt.ts"
import { EndingWatch, type ExecResult, EXIT } from "./exec-ending.ts"
import { openOutput } from "./exec-output.ts"
import { readSchemaFile, schemaPrinter } from "./exec-schema.ts"
import { jsonPrinter, type Printer, textPrinter } from "./exec-printer.ts"
import { createLog } from "../process/log.ts"
import { uploadForMessage } from "../../terminal/talk/sent-files.ts"
import { openClient } from "../open/client.ts"
import { readStdin } from "../process/stdin.ts"
import { settingsOfFlags } from "../settings/reply-settings.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl exec "request" [flags]

Runs one request in a conversation of its own and prints the answer as it comes, with the tables and charts that it is
about. What tools do is shown on stderr. What comes in on standard input is added to the request.

  --dir DIR       work on the files of this folder (agent files; data is then kept in your own data folder)
  --agent NAME    which agent (default: workspace; files where --dir is given)
  --model NAME    which model answers (PAWL_MODEL)
  --set NAME=VAL  how the model replies to this: effort=low, thinking=off, temperature=0.2, maxOutputTokens=500, stop=END,
                  parallelCalls=off; may be given several times
  --file PATH     a file that goes with the request: an image, a PDF or text, 25 MB at most; may be given several times
  --mode MODE     read-only, confirm (default) or auto: what becomes of changes
  --continue      go on with the newest conversation, with --dir that of the folder; it keeps its mode and agent
  --schema FILE   print nothing but JSON that fits this JSON schema; an answer that does not is mended, twice at most
  --json          print events as JSON lines instead of text
  -o FILE         also write the last answer to a file
  --server URL    ask this server instead of one in this process
  --token TOKEN   who asks it; better PAWL_TOKEN, which no list of processes shows

Exit codes, and what they mean is said on stderr:
  0    answered
  1    wrong usage or settings
  2    a change needs to be confirmed (nothing was changed; the tool is named) or is in doubt
  3    failed: no answer, one that broke off, or with --schema none that fits
  4    refused by the model's provider (content filter); what it had written is printed
  5    cut: the output limit was reached, or the provider never said that the answer was finished
  6    the model answered nothing
  130  cancelled
`

const flags = {
  dir: { type: "string" },
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  file: { type: "string", multiple: true },
  continue: { type: "boolean" },
  schema: { type: "string" },
  json: { type: "boolean" },
  output: { type: "string", short: "o" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("exec", words, flags)
  const mode = Mode.optional().safeParse(values.mode)
  if (!mode.success) throw new CommandError(`--mode cannot be "${values.mode}". Allowed: ${Mode.options.join(", ")}.`)
  if (values.continue && values.agent !== undefined)
    throw new CommandError("--continue goes on with the agent that the conversation has; leave --agent out.")
  const settings = settingsOfFlags(values.set)
  if (values.schema !== undefined && values.json)
    throw new CommandError("--schema prints one JSON value, --json one event a line: leave one of them out.")
  const schema = values.schema === undefined ? undefined : await readSchemaFile(values.schema)
  const text = [positionals.join(" "), await readStdin()].filter((part) => part.trim() !== "").join("\n\n")
  if (text === "") throw new CommandError('Say what to do: pawl exec "list my tasks"')
  await using output = values.output === undefined ? undefined : await openOutput(values.output)
  const dir = values.dir ?? (values.agent === "files" ? "." : undefined)
  const given = { PAWL_TOKEN: values.token }
  const config = dir === undefined ? readConfig(undefined, given) : readPersonalConfig(given)
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const fitting = schema ? schemaPrinter() : undefined
  const printer = fitting ?? (values.json ? jsonPrinter() : textPrinter(decideAt(dir, values.server)))
  const log = createLog(recent, undefined, config.log)
  const { server, model } = values
  await using place = await openClient(config, { log, recent, dir, server, isBrief: true })
  try {
    const agent = values.agent ?? (dir === undefined ? undefined : "files")
    const wanted = { agent, mode: mode.data, model, title: titleOf(text), ...place.beginsWith }
    // First: one that cannot be sent leaves no conversation behind in which nothing was said.
    const files: string[] = []
    for (const path of values.file ?? []) files.push(await upload(place.client, path))
    const id = await (values.continue ? goOn(place, wanted, printer) : begin(place, wanted, printer))
    const doubted = values.continue ? await findInDoubt(place.client, id) : []
    if (doubted.length > 0) return tellDoubt(doubted, printer)
    const status = await carryOut(place.client, { id, text, settings, files, schema }, printer)
    await output?.write(`${printer.answer}\n`)
    return fitting && !fitting.hasAnswer && status !== EXIT.cancelled ? EXIT.failed : status
  } catch (error) {
    if (!(error instanceof AppError) && !(error instanceof ClientError)) throw error
    printer.fail(error)
    return EXIT.failed
  }
}

/** Where the person finds what waits: `pawl chat` knows conversations of folders, and has its data elsewhere than they who name none. */
function decideAt(dir: string | undefined, server: string | undefined): string {
  if (dir === undefined) return server === undefined ? "in the page that pawl serve brings" : "on the server"
  const chat = "with pawl chat --continue in that folder"
  return server === undefined ? chat : `on the server or ${chat}`
}

/** One that is not there, or may not be read, is a mistake in the command, and told in a line. */
async function upload(client: Client, path: string): Promise<string> {
  try {
    return (await uploadForMessage(client, path)).id
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isOfDisk = error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code)
    if (!isOfDisk) throw error
    throw new CommandError(`--file ${path}: it cannot be read (${message}). Nothing was asked.`)
  }
}

interface Wanted {
  readonly agent: string | undefined
  readonly mode: Mode | undefined
  readonly model: string | undefined
  /** Of a new one: a list of conversations without names is of no use. */
  readonly title: string
}

type Place = Awaited<ReturnType<typeof openClient>>

async function begin({ client, begun }: Place, wanted: Wanted, printer: Printer): Promise<string> {
  const conversation = await client.createConversation({ body: wanted })
  begun(conversation.id)
  printer.begin(conversation, true)
  return conversation.id
}

/** What was not asked for stays as it is: above all a conversation that may only read. */
async function goOn({ client, newest, takeUp }: Place, { mode, model }: Wanted, printer: Printer): Promise<string> {
  const id = await newest()
  if (id === undefined) throw new CommandError("There is no conversation to continue here; leave --continue out.")
  takeUp(id)
  const settings = { ...(mode ? { mode } : {}), ...(model === undefined ? {} : { model }) }
  const conversation =
    Object.keys(settings).length > 0
      ? await client.changeConversation({ params: { id }, body: settings })
      : await client.readConversation({ params: { id } })
  printer.begin({ ...conversation }, false)
  return id
}

interface Request {
  readonly id: string
  readonly text: string
  readonly settings: ReplySettings | undefined
  readonly files: readonly string[]
  readonly schema: JsonObject | undefined
}

async function carryOut(client: Client, request: Request, printer: Printer): Promise<number> {
  const { id, text, settings, files, schema } = request
  const letGo = cancelOnSignal(() => client.cancelRun({ params: { id } }))
  const watch = new EndingWatch()
  try {
    for await (const frame of client.run(id, text, {
      ...(settings ? { settings } : {}),
      ...(files.length > 0 ? { files } : {}),
      ...(schema ? { schema } : {}),
    })) {
      printer.show(frame)
      watch.show(frame)
      if (isFrame(frame, "error")) {
        printer.fail(frame.data)
        return EXIT.failed
      }
      if (isFrame(frame, "done"))
        return await report(client, { id, status: frame.data.status, ending: watch.ending }, printer)
    }
    throw failure("internal")
  } finally {
    letGo()
  }
}

async function report(
  client: Client,
  { id, status, ending }: { id: string; status: "paused" | "completed" | "cancelled"; ending: ExecResult },
  printer: Printer,
): Promise<number> {
  if (status === "paused") {
    const { proposals } = await client.readConversation({ params: { id } })
    for (const proposal of proposals) printer.ask(proposal, proposal.status === "in_doubt")
  }
  if (status === "completed") {
    printer.end(status, ending)
    return ending.code
  }
  printer.end(status)
  return status === "cancelled" ? EXIT.cancelled : EXIT.needsConfirmation
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
