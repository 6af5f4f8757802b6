import { existsSync } from "node:fs"
import { registerHooks } from "node:module"
import { setImmediate } from "node:timers/promises"
import type { ReadStream, WriteStream } from "node:tty"
import { fileURLToPath } from "node:url"
import { chatText } from "../strings/chat.ts"
import { connectText } from "../strings/connect.ts"
import { InputHistory } from "./input/history.ts"
import { DIM, line } from "./line.ts"
import type { Terminal } from "./screen/terminal.ts"
import type { Talk } from "./talk/talk.ts"
import type { StartChoices, TerminalServer, TrustQuestion } from "./terminal-server.ts"

export interface TerminalOptions {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Takes the first prompt away, so that the real one stands in its place. */
  makeRoom(): void
  /** What the person has asked for; the rest is as it is, or as it usually is. */
  readonly choices: Partial<StartChoices>
  /** Which conversation to continue, by its id; true: the newest. */
  readonly continues: string | boolean
  /** What has to be asked before Pawl reads the folder, if anything. */
  trust(): Promise<TrustQuestion | undefined>
  /** Opens Pawl, or finds it; takes its time while the person begins to write. */
  reach(): Promise<TerminalServer>
}

export interface Left {
  /** Where the person was. */
  readonly conversation: string | undefined
}

/**
 * Shows the screen as soon as it is loaded, and everything else as it comes. Ends when the person leaves; with
 * nothing where they left before it was open.
 */
export async function runTerminal({ stdin, stdout, makeRoom, ...options }: TerminalOptions): Promise<Left | undefined> {
  const [{ showScreen }, { Terminal }] = await Promise.all([loadScreen(), import("./screen/terminal.ts")])
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  const history = new InputHistory()
  const terminal = new Terminal({ history, size, quit: () => shown.leave() })
  makeRoom()
  const shown = showScreen(terminal, stdin, stdout)
  // A terminal that is gone says so by a signal, which some that start us have ignored: then nobody is left to draw for.
  stdin.on("end", shown.leave)
  for (const stream of [stdin, stdout]) stream.on("error", shown.leave)
  // What was typed meanwhile is shown before anything else is loaded.
  await setImmediate()
  const opening = open(terminal, history, options)
  let failed = false
  opening.catch(() => {
    failed = true
    shown.leave()
  })
  await shown.left
  terminal.close()
  if (!terminal.talk && !failed) return undefined
  const reached = await opening
  await reached.close()
  return { conversation: terminal.talk?.conversation?.id }
}

async function open(
  terminal: Terminal,
  history: InputHistory,
  { trust, reach, choices, continues }: Pick<TerminalOptions, "trust" | "reach" | "choices" | "continues">,
): Promise<TerminalServer> {
  const question = await trust()
  if (question) question.answer(await terminal.askYesOrNo(chatText.trustQuestion(question.folder)))
  const [{ Talk }, { toShown }, reached] = await Promise.all([import("./talk/talk.ts"), import("./shown.ts"), reach()])
  const isFirst = !existsSync(reached.historyFile)
  history.open(reached.historyFile)
  const talk = new Talk(reached, { ...choices, mode: choices.mode ?? "confirm" }, terminal.changed)
  const learnModel = async () => {
    const { default: usual, unavailableChoice, localServers } = await reached.client.listModels()
    talk.usualModel = usual ?? ""
    terminal.changed()
    if (continues === false && choices.model === undefined && !unavailableChoice)
      talk.print(...startLines({ usual, localServers, isFirst }).map((text) => line(toShown(text), DIM)))
    if (!unavailableChoice || continues !== false || choices.model !== undefined) return
    const { describeUnavailable } = await import("../../client/model-words.ts")
    talk.print(line(`! ${toShown(describeUnavailable(unavailableChoice, usual))}`))
  }
  // The start does not wait for it.
  learnModel().catch(() => {})
  for (const warning of reached.warnings) talk.print(line(`! ${toShown(warning)}`))
  const id = continues === true ? await reached.newest() : continues || undefined
  try {
    if (id !== undefined) {
      await talk.enter(id)
      if (choices.mode) await talk.setMode(choices.mode)
      if (choices.model) await talk.setModel(choices.model)
    } else if (continues) talk.print(line(chatText.nothingToContinue, DIM))
    else talk.print(line(chatText.welcome(toShown(reached.where)), DIM))
  } catch (error) {
    talk.complain(error)
  }
  terminal.open(talk)
  // Nobody waits for it, and the conversation works without.
  reportWaiting(talk, reached, toShown).catch(() => {})
  return reached
}

interface StartFacts extends Pick<Awaited<ReturnType<TerminalServer["client"]["listModels"]>>, "localServers"> {
  /** The model of a new conversation. */
  readonly usual: string | null
  /** Nobody has typed into this terminal before. */
  readonly isFirst: boolean
}

/** Which model answers and how to choose another: at the first start, and while there is only the offline model. */
function startLines({ usual, localServers, isFirst }: StartFacts): string[] {
  if (usual === null) return []
  if (usual !== "offline") return isFirst ? [connectText.answers(usual), connectText.chooseOther] : []
  const found = localServers?.items ?? []
  const offers = found.map((server) => connectText.found(server, localServers?.mayConnect ?? false, found.length === 1))
  return [connectText.offline, ...(offers.length > 0 ? offers : [connectText.noServer])]
}

/** Names a change that waits in another conversation of the folder: `--continue` opens only the newest. */
async function reportWaiting(talk: Talk, { client, inFolder = [] }: TerminalServer, toShown: (text: string) => string) {
  const here = talk.conversation?.id
  const others = new Set(inFolder.filter((id) => id !== here))
  if (others.size === 0) return
  const { items } = await client.listProposals({ query: { status: "pending" } })
  const waiting = items.find(({ conversationId }) => others.has(conversationId))
  if (!waiting) return
  const { title } = await client.readConversation({ params: { id: waiting.conversationId } })
  talk.print(line(chatText.changeWaitsElsewhere(toShown(title ?? chatText.untitled), toShown(waiting.summary))))
}

/**
 * Loads the screen, and with it Ink. Ink takes one function out of es-toolkit's 415 files, which cost more than everything
 * else together; while it is loaded that name leads to the one file. Where the package looks otherwise, to all of them.
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
