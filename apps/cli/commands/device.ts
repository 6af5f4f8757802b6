import { join } from "node:path"
import { type Device, type DeviceOptions, type DeviceState, openDevice } from "../../../client/device/index.ts"
import { scrubSecrets } from "../../../core/models/providers/errors/scrub-secrets.ts"
import { AppError } from "../../../core/protocol/errors.ts"
import { CommandError, UsageError, onStop, readFlags, toUrl } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { baseUrl } from "../../../core/compose/settings.ts"
import { warn } from "../settings/warn.ts"
import { connectionText, deviceText } from "../../strings/serve.ts"
import { failureReason, withoutSystemText } from "../../../core/shared/text/system-errors.ts"
import { usageText } from "../../strings/usage.ts"
import { clientErrorText } from "../process/error-text.ts"

export const help = deviceText.help

const flags = { server: { type: "string" }, token: { type: "string" }, db: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals.length > 0) throw new UsageError(usageText.unexpectedArgument(positionals[0] ?? ""))
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  warn(config)
  const { token, dataFolder } = config
  if (!token) throw new CommandError(connectionText.missingToken)
  const server = (values.server === undefined ? baseUrl(config) : toUrl(values.server)).replace(/(?<!\/)\/+$/, "")
  const db = values.db ?? join(dataFolder, "device.db")
  const print = (line: string) => void process.stdout.write(`${scrubSecrets(line, config.secrets)}\n`)
  const stopping = onStop()
  let shown = ""
  await using device = open({
    server,
    token,
    db,
    onState(state) {
      const line = toLine(state)
      // Prints a line once, even if a server is away for a day.
      if (line && line !== shown)
        print(state.state === "connected" ? deviceText.connected(server, device.deviceId, db) : line)
      shown = line ?? shown
    },
    onProblem: (problem) => process.stderr.write(`${scrubSecrets(String(problem), config.secrets)}\n`),
  })
  stopping.addEventListener("abort", () => void device.close())
  const refused = await device.ended
  if (refused) throw new CommandError(scrubSecrets(clientErrorText(refused), config.secrets))
  return 0
}

/** An unusable file is reported in a sentence: it may be from a newer version, or not a database. */
function open(options: DeviceOptions): Device {
  try {
    return openDevice(options)
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = failureReason(error)
    const { db } = options
    throw new CommandError(reason.includes(db) ? `${reason}.` : deviceText.cannotOpen(db, reason))
  }
}

function toLine(state: DeviceState): string | undefined {
  switch (state.state) {
    case "connected":
      return "connected"
    case "waiting":
      return deviceText.disconnected(withoutSystemText(state.reason))
    case "ended":
      return deviceText.closed
    case "connecting":
      return undefined
  }
}
