import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { dirname } from "node:path"
import { type Client, ClientError, isFrame } from "../../../client/index.ts"
import { whyAutoAsks, workFilesOf } from "../../../client/work-files.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { type MessageFile, titleOf } from "../../../core/protocol/conversation/message.ts"
import type { ReplySettings } from "../../../core/protocol/conversation/reply-settings.ts"
import { AppError, failure } from "../../../core/protocol/errors.ts"
import { type JsonObject, Mode } from "../../../core/protocol/schema.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { endReason } from "../../../core/store/engine/store-failure.ts"
import { execText, optionText } from "../../strings/exec.ts"
import { usageText } from "../../strings/usage.ts"
import { referencedPaths, resolvePath } from "../../terminal/attachments/file-references.ts"
import { printable } from "../../terminal/printable.ts"
import { isFile, pathInFolder, uploadForMessage } from "../../terminal/session/upload-files.ts"
import type { WorkFolder } from "../../terminal/terminal-server.ts"
import { openClient } from "../open/client.ts"
import { TrustedFolders } from "../open/trusted-folders.ts"
import { CommandError, UsageError, readFlags } from "../process/command.ts"
import { clientErrorText } from "../process/error-text.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { settingsOfFlags } from "../settings/reply-settings.ts"
import { reportData, warn } from "../settings/warn.ts"
import { EXIT, EndingTracker, type ExecResult, exitOf, openOutput } from "./exec-ending.ts"
import {
  type Printer,
  findInDoubt,
  findPending,
  jsonPrinter,
  reportDoubt,
  reportSetAside,
  textPrinter,
} from "./exec-printer.ts"
import { readSchemaFile, schemaPrinter } from "./exec-schema.ts"

export const help = execText.help

const flags = {
  dir: { type: "string" },
  trust: { type: "boolean" },
  "no-rules": { type: "boolean" },
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  file: { type: "string", multiple: true },
  continue: { type: "boolean" },
  schema: { type: "string" },
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  output: { type: "string", short: "o" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  const mode = Mode.optional().safeParse(values.mode)
  if (!mode.success) throw new UsageError(optionText.badMode(values.mode ?? "", Mode.options))
  if (values.continue && values.agent !== undefined) throw new UsageError(execText.continueKeepsAgent)
  const settings = settingsOfFlags(values.set)
  if (values.schema !== undefined && values.json) throw new UsageError(execText.schemaOrJson)
  const schema = values.schema === undefined ? undefined : await readSchemaFile(values.schema)
  const request = positionals.join(" ")
  const text = [request, await readStdin()].filter((part) => part.trim() !== "").join("\n\n")
  if (text === "") throw new UsageError(execText.missingRequest)
  await using output = values.output === undefined ? undefined : await openOutput(values.output)
  const { server, model } = values
  const dir = values.dir ?? (values.agent === "files" || isWorkFolder(server) ? "." : undefined)
  // Without a title model, because nothing here shows a title.
  const flagged = { PAWL_TOKEN: values.token, PAWL_PROJECT_RULES: values["no-rules"] ? "off" : undefined }
  const config = { ...readConfig(undefined, flagged), titleModel: undefined }
  forgetSecrets(config.secrets)
  warn(config)
  if (values.server === undefined) reportData(config)
  if (values.trust) {
    if (dir === undefined) throw new UsageError(execText.trustNeedsFolder)
    new TrustedFolders(config.dataFolder).answer(dir, true)
  }
  if (dir !== undefined && config.projectRules) {
    const { changed } = new TrustedFolders(config.dataFolder).rulesOf(dir).ofFolder
    if (changed.length > 0) process.stderr.write(execText.rulesChanged(changed.map(printable), printable(dir)))
  }
  // Only for a person: a script knows what it asked for.
  if (process.stderr.isTTY && dir === undefined && values.agent === undefined && !values.continue)
    process.stderr.write(execText.filesNotRead)
  const recent = new RecentSecrets(config.secrets)
  const decide = (id: string) => decideWith({ id, dir: values.dir, server })
  const fitting = schema ? schemaPrinter() : undefined
  const printer = fitting ?? (values.json ? jsonPrinter() : textPrinter(decide, values.verbose))
  const log = createLog(recent, undefined, config.log)
  await using place = await openClient(config, { log, recent, dir, server })
  try {
    const agent = values.agent ?? (dir === undefined ? undefined : "files")
    const wanted = { agent, mode: mode.data, model, title: titleOf(text), ...place.conversationDefaults }
    // Uploads first: a failed upload must not leave an empty conversation behind.
    const files: MessageFile[] = []
    const workFolder = dir === undefined ? undefined : workFolderAt(dir, config)
    for (const path of values.file ?? []) files.push(await upload(place.client, { path, as: "--file " }, workFolder))
    // Standard input is not searched for references, because others may have written it.
    for (const path of await namedIn(request, { workFolder, sent: values.file ?? [] }))
      files.push(await upload(place.client, { path, as: "@" }, workFolder))
    const id = await (values.continue ? continueConversation(place, wanted, printer) : begin(place, wanted, printer))
    const why = files.length > 0 ? whyAutoAsks(files) : undefined
    const isAuto = async () => (await place.client.readConversation({ params: { id } })).mode === "auto"
    if (why !== undefined && (await isAuto())) process.stderr.write(`${why}\n`)
    const doubted = values.continue ? await findInDoubt(place.client, id) : []
    if (doubted.length > 0) return reportDoubt(doubted, printer)
    const waiting = values.continue ? await findPending(place.client, id) : []
    const status = await carryOut(
      place.client,
      { id, text, settings, files, schema, waiting, verbose: values.verbose ?? false },
      printer,
    )
    await output?.write(`${printer.answer}\n`)
    return fitting && !fitting.hasAnswer && status !== EXIT.cancelled ? EXIT.failed : status
  } catch (error) {
    if (!(error instanceof AppError) && !(error instanceof ClientError)) throw error
    // A remote server keeps working after this command ends, a server in this process does not.
    const reason = server === undefined ? endReason(error) : undefined
    const message = reason ?? (error instanceof ClientError ? clientErrorText(error) : error.message)
    printer.fail({ code: error.code, message })
    return exitOf(error)
  }
}

/**
 * Whether the command works in the current folder, as `pawl chat` does. Not in the home folder and /, where scripts are
 * started without meaning the folder, and not with a remote server: a script must not offer it files of this machine.
 */
function isWorkFolder(server: string | undefined): boolean {
  if (server !== undefined) return false
  const folder = realpathSync(".")
  return dirname(folder) !== folder && folder !== realOf(homedir())
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // the home folder does not exist
  }
}

interface Waiting {
  readonly id: string
  readonly dir: string | undefined
  readonly server: string | undefined
}

/** The command that decides the waiting changes of a conversation. */
function decideWith({ id, dir, server }: Waiting): string {
  const flags = { conversation: id, dir, server }
  const words = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined
      ? []
      : [`--${flag}`, /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`],
  )
  return `pawl chat ${words.join(" ")}`
}

function workFolderAt(dir: string, { dataFolder }: Pick<Config, "dataFolder">): WorkFolder {
  return { root: realpathSync(dir), isTrusted: new TrustedFolders(dataFolder).answerFor(dir) ?? false }
}

interface Naming {
  readonly workFolder: WorkFolder | undefined
  /** The paths given with --file. */
  readonly sent: readonly string[]
}

/**
 * The files that a request references with `@path`, if they are in the work folder: a script may have put text of
 * others into the request, which must not send any file of this machine. For other files stderr says how to send them.
 */
async function namedIn(request: string, { workFolder, sent }: Naming): Promise<string[]> {
  const places = new Set(sent.map(resolvePath))
  const paths: string[] = []
  for (const path of referencedPaths(request)) {
    if (places.has(resolvePath(path)) || !(await isFile(path))) continue
    places.add(resolvePath(path))
    if (workFolder && (await pathInFolder(resolvePath(path), workFolder)) !== undefined) paths.push(path)
    else process.stderr.write(execText.fileOutsideFolder(printable(path)))
  }
  return paths
}

/** Uploads a file. A missing or unreadable one is a usage error. */
async function upload(
  client: Client,
  { path, as }: { readonly path: string; readonly as: string },
  workFolder: WorkFolder | undefined,
): Promise<MessageFile> {
  try {
    return await uploadForMessage(client, path, workFolder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isOfDisk = error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code)
    if (!isOfDisk) throw error
    throw new CommandError(execText.cannotAttach(as, path, failureReason(error)))
  }
}

interface Wanted {
  readonly agent: string | undefined
  readonly mode: Mode | undefined
  readonly model: string | undefined
  /** Title of a new conversation. */
  readonly title: string
}

type ExecConnection = Awaited<ReturnType<typeof openClient>>

async function begin({ client, begun }: ExecConnection, wanted: Wanted, printer: Printer): Promise<string> {
  const conversation = await client.createConversation({ body: wanted })
  begun(conversation.id)
  if (wanted.model === undefined && conversation.modelChosen === false) await warnOfLastChoice(client)
  printer.begin(conversation, true)
  return conversation.id
}

/** Says which model answers if the one that was chosen last cannot. */
async function warnOfLastChoice(client: Client): Promise<void> {
  const { unavailableChoice, default: usual } = await client.listModels()
  if (!unavailableChoice) return
  const { describeUnavailable } = await import("../../../client/model-text.ts")
  process.stderr.write(`${printable(describeUnavailable(unavailableChoice, usual))}\n`)
}

/** Changes only what was requested, so that a read-only conversation stays read-only. */
async function continueConversation(
  { client, newest, resume }: ExecConnection,
  { mode, model }: Wanted,
  printer: Printer,
): Promise<string> {
  const id = await newest()
  if (id === undefined) throw new CommandError(execText.nothingToContinue)
  resume(id)
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
  readonly files: readonly MessageFile[]
  readonly schema: JsonObject | undefined
  /** Prints the ids of changes, too. */
  readonly verbose: boolean
  /** Changes that wait for approval, which the request sets aside. */
  readonly waiting: Awaited<ReturnType<typeof findPending>>
}

async function carryOut(client: Client, request: Request, printer: Printer): Promise<number> {
  const { id, text, settings, files, schema } = request
  let { waiting } = request
  const letGo = cancelOnSignal(() => client.cancelRun({ params: { id } }))
  const watch = new EndingTracker()
  try {
    for await (const frame of client.run(id, text, {
      ...(settings ? { settings } : {}),
      ...(files.length > 0 ? { files: files.map((file) => file.id), ...workFilesOf(files) } : {}),
      ...(schema ? { schema } : {}),
    })) {
      // Only once the run has started: a request that the server refuses sets nothing aside.
      if (waiting.length > 0 && isFrame(frame, "run_started")) {
        await reportSetAside(client, waiting, request.verbose)
        waiting = []
      }
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

/** The first Ctrl-C cancels the run, the second one ends the process. */
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

const MAX_BYTES = 1024 * 1024
const STDIN_HINT_MS = 3000

/** The piped input; empty at a terminal. */
async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) return ""
  // The parent may have left the pipe open; without a hint that would look like a hang.
  const hint = setTimeout(() => process.stderr.write(usageText.readingStdin), STDIN_HINT_MS)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    size += (chunk as Buffer).length
    if (size > MAX_BYTES) throw new CommandError(usageText.stdinTooLarge)
    chunks.push(chunk as Buffer)
  }
  clearTimeout(hint)
  return Buffer.concat(chunks).toString("utf8").trim()
}
