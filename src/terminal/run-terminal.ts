import { setImmediate } from "node:timers/promises"
import type { ReadStream, WriteStream } from "node:tty"
import { InputHistory } from "./input/history.ts"
import { DIM, line } from "./line.ts"
import { loadScreen } from "./screen/load-ink.ts"
import type { StartChoices, TerminalServer } from "./terminal-server.ts"
import type { Terminal } from "./screen/terminal.ts"

export interface TerminalOptions {
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Takes the first prompt away, so that the real one stands in its place. */
  makeRoom(): void
  /** What the person has asked for; the rest is as it is, or as it usually is. */
  readonly choices: Partial<StartChoices>
  /** Goes on with the newest conversation. */
  readonly continues: boolean
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
  { reach, choices, continues }: Pick<TerminalOptions, "reach" | "choices" | "continues">,
): Promise<TerminalServer> {
  const [{ Talk }, { toShown }, reached] = await Promise.all([import("./talk/talk.ts"), import("./shown.ts"), reach()])
  history.open(reached.historyFile)
  const talk = new Talk(reached, { ...choices, mode: choices.mode ?? "confirm" }, terminal.changed)
  const learnModel = ({ default: usual }: { readonly default: string | null }) => {
    talk.usualModel = usual ?? ""
    terminal.changed()
  }
  // For the last line alone: nobody waits for it.
  reached.client.listModels().then(learnModel, () => {})
  for (const warning of reached.warnings) talk.print(line(`! ${toShown(warning)}`))
  const id = continues ? await reached.newest() : undefined
  try {
    if (id !== undefined) {
      await talk.enter(id)
      if (choices.mode) await talk.setMode(choices.mode)
      if (choices.model) await talk.setModel(choices.model)
    } else if (continues)
      talk.print(line("There is nothing here yet to continue: your words begin a conversation.", DIM))
    else talk.print(line(`Pawl in ${toShown(reached.where)}. /help says what can be done.`, DIM))
  } catch (error) {
    talk.complain(error)
  }
  terminal.open(talk)
  return reached
}
