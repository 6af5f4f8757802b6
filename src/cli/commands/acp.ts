import { Console } from "node:console"
import { Readable, Writable } from "node:stream"
import manifest from "../../../package.json" with { type: "json" }
import { serveEditor } from "../../acp/serve-editor.ts"
import { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import { Mode } from "../../protocol/schema.ts"
import { openEditorPlaces } from "../open/editor-places.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { onStop } from "../process/on-stop.ts"
import { readPersonalConfig } from "../settings/config.ts"
import { settingsOfFlags } from "../settings/reply-settings.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl acp [flags]

Lets an editor drive Pawl: it speaks the Agent Client Protocol on standard input and output, and is started by the
editor. It works on the files of the folder that the editor has open; what would change something is shown there first.
docs/editors.md has the settings for Zed, JetBrains and Neovim. Data is kept in PAWL_DATA, or where programs of yours
keep theirs: never in the folder. What goes wrong is said on stderr, which editors keep in a log.

  --mode MODE     read-only, confirm (default) or auto: what becomes of changes in new conversations
  --model NAME    which model answers (PAWL_MODEL)
  --set NAME=VAL  how the model replies: effort=low, thinking=off, temperature=0.2 …
  --agent NAME    which agent (default: files, which works in the folder)
  --server URL    talk to a server; this machine is the device that works in the folder
  --token TOKEN   who asks it; better PAWL_TOKEN, which no list of processes shows
`

const flags = {
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("acp", words, flags)
  if (positionals.length > 0) throw new CommandError("pawl acp takes no words: an editor starts it and talks to it.")
  const mode = Mode.optional().safeParse(values.mode)
  if (!mode.success) throw new CommandError(`--mode cannot be "${values.mode}". Allowed: ${Mode.options.join(", ")}.`)
  if (process.stdin.isTTY)
    throw new CommandError("pawl acp is started by an editor, and this is a terminal. Use pawl chat here.")
  const { server, agent, model } = values
  const config = readPersonalConfig({ PAWL_TOKEN: values.token })
  const output = keepStdout()
  forgetSecrets(config.secrets)
  warn(config)
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const begins = { agent, model, mode: mode.data, settings: settingsOfFlags(values.set) }
  await using places = openEditorPlaces(config, { log, recent, server, begins })
  const serving = serveEditor({
    input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(output) as WritableStream<Uint8Array>,
    places,
    folder: process.cwd(),
    info: { name: manifest.name, title: "Pawl", version: manifest.version },
    signal: onStop(),
    // What a person can put right is in the sentence that the editor shows.
    failed: (error) => error instanceof CommandError || log.error("editor_request_failed", { error }),
  })
  await serving.catch((error: Error) => {
    throw new CommandError(`The editor has sent what cannot be read: ${error.message}.`)
  })
  return 0
}

/** From now on standard output carries the protocol and nothing else: what anything here prints goes where logs go. */
function keepStdout(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  globalThis.console = new Console(stderr)
  return new Writable({ write: (chunk: Buffer, _encoding, done) => void write(chunk, done) })
}
