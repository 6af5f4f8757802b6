import { Console } from "node:console"
import { Readable, Writable } from "node:stream"
import manifest from "../../../package.json" with { type: "json" }
import { serveEditor } from "../../../adapters/acp/serve-editor.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { Mode } from "../../../core/protocol/schema.ts"
import { openEditorPlaces } from "../open/editor-places.ts"
import { CommandError, UsageError, onStop, readFlags } from "../process/command.ts"
import { forgetSecrets } from "../process/forget-secrets.ts"
import { createLog } from "../process/log.ts"
import { readConfig } from "../settings/config.ts"
import { settingsOfFlags } from "../settings/reply-settings.ts"
import { reportData, warn } from "../settings/warn.ts"
import { acpText } from "../../strings/tests.ts"
import { usageText } from "../../strings/usage.ts"
import { failureReason } from "../../../core/shared/text/system-errors.ts"
import { optionText } from "../../strings/exec.ts"

export const help = acpText.help

const flags = {
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals.length > 0) throw new UsageError(usageText.unexpectedArgument(positionals[0] ?? ""))
  const mode = Mode.optional().safeParse(values.mode)
  if (!mode.success) throw new UsageError(optionText.badMode(values.mode ?? "", Mode.options))
  if (process.stdin.isTTY) throw new CommandError(acpText.needsEditor)
  const { server, agent, model } = values
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  const output = keepStdout()
  forgetSecrets(config.secrets)
  warn(config)
  if (server === undefined) reportData(config)
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
    // Errors that the user can fix are shown by the editor; others go to the log.
    failed: (error) => error instanceof CommandError || log.error("editor_request_failed", { error }),
  })
  await serving.catch((error: Error) => {
    throw new CommandError(acpText.malformed(failureReason(error)))
  })
  return 0
}

/** Standard output carries only the protocol from here on: anything printed goes to standard error. */
function keepStdout(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  globalThis.console = new Console(stderr)
  return new Writable({ write: (chunk: Buffer, _encoding, done) => void write(chunk, done) })
}
