import { join } from "node:path"
import { type DeviceState, openDevice } from "../../device/index.ts"
import { scrubSecrets } from "../../models/providers/errors/scrub-secrets.ts"
import { CommandError, readFlags } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { baseUrl } from "../../compose/server-url.ts"
import { toUrl } from "../settings/server-flag.ts"
import { onStop } from "../process/on-stop.ts"
import { warn } from "../settings/warn.ts"

export const help = `Usage: pawl device [--server URL] [--token TOKEN] [--db FILE]

Keeps a workspace on this machine (tasks, projects, checkpoints, notes, comments and clients in one SQLite file) and works
on it when the server asks, for whoever the token belongs to. It stays connected until it is stopped, or until the server
no longer accepts the token. Each call of the server is applied once, however often the connection or this process breaks.

  --server URL    where the server is (default: the one that the settings on this machine describe)
  --token TOKEN   what \`pawl token create\` printed; better PAWL_TOKEN, which no list of processes shows
  --db FILE       the workspace (default: device.db in PAWL_DATA, ./.pawl)

Exit codes: 0 stopped, 1 wrong usage or settings, or refused by the server.
`

const flags = { server: { type: "string" }, token: { type: "string" }, db: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("device", words, flags)
  if (positionals.length > 0) throw new CommandError(`pawl device takes no "${positionals[0]}".\n\n${help}`)
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  warn(config)
  const { token, dataFolder } = config
  if (!token)
    throw new CommandError("Say who this device belongs to: PAWL_TOKEN, or --token; `pawl token create` makes one.")
  const server = (values.server === undefined ? baseUrl(config) : toUrl(values.server)).replace(/(?<!\/)\/+$/, "")
  const db = values.db ?? join(dataFolder, "device.db")
  const say = (line: string) => void process.stdout.write(`${scrubSecrets(line, config.secrets)}\n`)
  const stopping = onStop()
  let shown = ""
  await using device = openDevice({
    server,
    token,
    db,
    onState(state) {
      const line = toLine(state)
      // A server that is away for a day is one line, not thousands.
      if (line && line !== shown)
        say(state.state === "connected" ? `${line} to ${server} as ${device.deviceId}, with ${db}` : line)
      shown = line ?? shown
    },
    onProblem: (problem) => process.stderr.write(`${scrubSecrets(String(problem), config.secrets)}\n`),
  })
  stopping.addEventListener("abort", () => void device.close())
  const refused = await device.ended
  if (refused) throw new CommandError(scrubSecrets(refused.message, config.secrets))
  return 0
}

function toLine(state: DeviceState): string | undefined {
  switch (state.state) {
    case "connected":
      return "connected"
    case "waiting":
      return `disconnected: ${state.reason}; reconnecting`
    case "ended":
      return "closed"
    case "connecting":
      return undefined
  }
}
