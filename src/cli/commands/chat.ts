import { join, resolve } from "node:path"
import type { ReadStream, WriteStream } from "node:tty"
import type { Mode } from "../../protocol/schema.ts"
import { drawFirstPrompt } from "../../terminal/screen/first-prompt.ts"
import type { StartChoices, TerminalServer } from "../../terminal/terminal-server.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { silentLog } from "../../agent/silent-log.ts"

export const help = `Usage: pawl chat [flags]

Talks in this terminal. What would change something is shown first, and done when you say yes. /help lists keys and
commands. Data is kept in PAWL_DATA, or where programs of yours keep theirs: never in the folder.

  --continue      go on with the last conversation of this folder, and with what waits there for your answer
  --mode MODE     read-only, confirm (default) or auto: what becomes of changes
  --model NAME    which model answers (PAWL_MODEL)
  --set NAME=VAL  how the model replies: effort=low, thinking=off, temperature=0.2 …; /settings in the conversation
  --agent NAME    which agent (default: files, which works in the folder)
  --dir PATH      work in another folder than this one
  --server URL    talk to a server; this machine is the device that works in the folder
  --token TOKEN   who asks it; better PAWL_TOKEN, which no list of processes shows
`

/** As the treaty has them; its schemas take longer to load than the prompt. */
const modes: readonly Mode[] = ["read-only", "confirm", "auto"]

const flags = {
  continue: { type: "boolean", short: "c" },
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  dir: { type: "string" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("chat", words, flags)
  if (positionals.length > 0) throw new CommandError('pawl chat takes no request; pawl exec "…" does.')
  const mode = values.mode === undefined ? undefined : modes.find((each) => each === values.mode)
  if (values.mode !== undefined && !mode)
    throw new CommandError(`--mode cannot be "${values.mode}". Allowed: ${modes.join(", ")}.`)
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY)
    throw new CommandError('pawl chat needs a terminal, and this is a pipe or a file. Use pawl exec "…" here.')
  const choices: Partial<StartChoices> = {
    agent: values.agent,
    model: values.model,
    ...(mode ? { mode } : {}),
    // Its schemas take longer to load than the prompt, and few set anything.
    ...(values.set ? { settings: (await import("../settings/reply-settings.ts")).settingsOfFlags(values.set) } : {}),
  }
  const streams = { stdin: stdin as ReadStream, stdout: stdout as WriteStream }
  const makeRoom = drawFirstPrompt(streams.stdin, streams.stdout)
  const { runTerminal } = await import("../../terminal/run-terminal.ts")
  const left = await runTerminal({
    ...streams,
    makeRoom,
    choices,
    continues: values.continue ?? false,
    reach: () => reach(values),
  })
  // What is still opening may wait for a server for ever; nothing has been begun that could be cut off.
  if (!left) process.exit(0)
  if (left.conversation !== undefined) stdout.write("pawl chat --continue goes on here.\n")
  return 0
}

interface Where {
  readonly dir?: string | undefined
  readonly server?: string | undefined
  readonly token?: string | undefined
}

/** Loaded after the prompt is there: a server has more to load than a prompt has time. */
async function reach({ dir, server, token }: Where): Promise<TerminalServer> {
  const [{ readPersonalConfig, readReflow }, { forgetSecrets }, { openClient }, { foldersIn }, { RecentSecrets }] =
    await Promise.all([
      import("../settings/config.ts"),
      import("../process/forget-secrets.ts"),
      import("../open/client.ts"),
      import("../open/folder-conversations.ts"),
      import("../../models/providers/errors/recent-secrets.ts"),
    ])
  const config = readPersonalConfig({ PAWL_TOKEN: token })
  forgetSecrets(config.secrets)
  const recent = new RecentSecrets(config.secrets)
  const folder = resolve(dir ?? ".")
  const place = await openClient(config, { log: silentLog, recent, dir: folder, server })
  const { client, newest, takeUp, beginsWith } = place
  return {
    client,
    where: server === undefined ? folder : `${folder} at ${server}`,
    warnings: config.warnings,
    reflow: readReflow(),
    historyFile: join(config.dataFolder, "chat-history"),
    begins: { agent: "files", ...beginsWith },
    folders: () => foldersIn(config.dataFolder),
    newest,
    entered: takeUp,
    close: async () => place[Symbol.asyncDispose](),
  }
}

/** The screen is the person's: what goes wrong in a run is part of the conversation. */
