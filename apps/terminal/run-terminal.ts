import { existsSync } from "node:fs"
import { registerHooks } from "node:module"
import { setImmediate } from "node:timers/promises"
import type { ReadStream, WriteStream } from "node:tty"
import { fileURLToPath } from "node:url"
import { quote } from "../../core/shared/text/quote.ts"
import { chatText } from "../strings/chat.ts"
import { connectText } from "../strings/connect.ts"
import { InputHistory } from "./input/history.ts"
import { DIM, line } from "./line.ts"
import type { Terminal } from "./screen/terminal.ts"
import type { TerminalSession } from "./session/terminal-session.ts"
import type { StartChoices, TerminalServer, TrustQuestion } from "./terminal-server.ts"

export interface RunTerminalOptions {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Removes the first prompt, so that the real one replaces it. */
  removeFirstPrompt(): void
  /** The person's choices from command-line options. */
  readonly choices: Partial<StartChoices>
  /** The id of the conversation to continue; true for the newest. */
  readonly continueWith: string | boolean
  /** The question to ask before Pawl reads the folder, if any. */
  trust(): Promise<TrustQuestion | undefined>
  /** Opens or finds the server. It may take a while, during which the person can type. */
  connect(): Promise<TerminalServer>
}

export interface TerminalResult {
  /** The conversation that was open last. */
  readonly conversation: string | undefined
}

/**
 * Shows the screen as soon as it is loaded, and everything else as it becomes available. Resolves when the person
 * quits; with undefined if that was before the server was open.
 */
export async function runTerminal({
  stdin,
  stdout,
  removeFirstPrompt,
  ...options
}: RunTerminalOptions): Promise<TerminalResult | undefined> {
  const [{ showScreen }, { Terminal }] = await Promise.all([loadScreen(), import("./screen/terminal.ts")])
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  const history = new InputHistory()
  const terminal = new Terminal({ history, size, quit: () => shown.leave() })
  removeFirstPrompt()
  const shown = showScreen(terminal, stdin, stdout)
  // A terminal that is closed sends SIGHUP, which some parent processes ignore: then the end of the stream ends the
  // process.
  stdin.on("end", shown.leave)
  for (const stream of [stdin, stdout]) stream.on("error", shown.leave)
  // Shows what has been typed so far before anything else is loaded.
  await setImmediate()
  const opening = open(terminal, history, options)
  let failed = false
  opening.catch(() => {
    failed = true
    shown.leave()
  })
  await shown.left
  terminal.close()
  if (!terminal.session && !failed) return undefined
  const server = await opening
  await server.close()
  return { conversation: terminal.session?.conversation?.id }
}

async function open(
  terminal: Terminal,
  history: InputHistory,
  { trust, connect, choices, continueWith }: Pick<RunTerminalOptions, "trust" | "connect" | "choices" | "continueWith">,
): Promise<TerminalServer> {
  const question = await trust()
  const { printable } = await import("./printable.ts")
  if (question) question.answer(await terminal.askYesOrNo(printable(question.text)))
  const [{ TerminalSession }, server] = await Promise.all([import("./session/terminal-session.ts"), connect()])
  const isFirst = !existsSync(server.historyFile)
  history.open(server.historyFile)
  const session = new TerminalSession(server, { ...choices, mode: choices.mode ?? "confirm" }, terminal.changed)
  const showModel = async () => {
    const { default: defaultModel, unavailableChoice, localServers } = await server.client.listModels()
    session.defaultModel = defaultModel ?? ""
    terminal.changed()
    if (continueWith === false && choices.model === undefined && !unavailableChoice)
      session.print(...startLines({ defaultModel, localServers, isFirst }).map((text) => line(printable(text), DIM)))
    if (!unavailableChoice || continueWith !== false || choices.model !== undefined) return
    const { describeUnavailable } = await import("../../client/model-text.ts")
    session.print(line(`! ${printable(describeUnavailable(unavailableChoice, defaultModel))}`))
  }
  // Not awaited, to keep the start fast.
  showModel().catch(() => {})
  for (const warning of server.warnings) session.print(line(`! ${printable(warning)}`))
  const id = continueWith === true ? await server.newest() : continueWith || undefined
  try {
    if (id !== undefined) {
      await session.enter(id)
      if (choices.mode) await session.setMode(choices.mode)
      if (choices.model) await session.setModel(choices.model)
    } else if (continueWith) session.print(line(chatText.nothingToContinue, DIM))
    else session.print(line(chatText.welcome(printable(server.where)), DIM))
    if (server.rules?.length) session.print(line(chatText.rules(server.rules.map(printable)), DIM))
  } catch (error) {
    session.printError(error)
  }
  terminal.open(session)
  // Optional, so it is not awaited and its failure is ignored.
  reportWaiting(session, server, printable).catch(() => {})
  return server
}

interface StartFacts extends Pick<Awaited<ReturnType<TerminalServer["client"]["listModels"]>>, "localServers"> {
  /** The default model of a new conversation. */
  readonly defaultModel: string | null
  /** Whether this is the first start on this machine. */
  readonly isFirst: boolean
}

/**
 * Says which model answers and how to choose another: at the first start, and while only the offline model is
 * available.
 */
function startLines({ defaultModel, localServers, isFirst }: StartFacts): string[] {
  if (defaultModel === null) return []
  if (defaultModel !== "offline") return isFirst ? [connectText.answers(defaultModel), connectText.chooseOther] : []
  const found = localServers?.items ?? []
  const offers = found.map((server) => connectText.found(server, localServers?.mayConnect ?? false, found.length === 1))
  return [connectText.offline, ...(offers.length > 0 ? offers : [connectText.noServer])]
}

/** Names a change that waits in another conversation of the folder: `--continue` opens only the newest. */
async function reportWaiting(
  session: TerminalSession,
  { client, inFolder = [] }: TerminalServer,
  printable: (text: string) => string,
) {
  const here = session.conversation?.id
  const others = new Set(inFolder.filter((id) => id !== here))
  if (others.size === 0) return
  const { items } = await client.listProposals({ query: { status: "pending" } })
  const waiting = items.find(({ conversationId }) => others.has(conversationId))
  if (!waiting) return
  const { title } = await client.readConversation({ params: { id: waiting.conversationId } })
  session.print(
    line(chatText.changeWaitsElsewhere(quote(printable(title ?? chatText.untitled)), printable(waiting.summary))),
  )
}

/**
 * Loads the screen and Ink. Ink imports one function from the 415 files of es-toolkit, which take longer to load than
 * everything else together. While Ink loads, the import resolves to the one file; if the package layout is unknown, to
 * all of them.
 */
async function loadScreen(): Promise<typeof import("./screen/show-screen.ts")> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      if (specifier !== "es-toolkit/compat") return resolved
      const url = resolved.url.replace(/index\.mjs$/, "function/throttle.mjs")
      return url !== resolved.url && existsSync(fileURLToPath(url)) ? { ...resolved, url } : resolved
    },
  })
  try {
    return await import("./screen/show-screen.ts")
  } finally {
    hooks.deregister()
  }
}
