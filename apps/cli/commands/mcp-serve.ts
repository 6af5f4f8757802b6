import { baseUrl } from "../../../core/compose/settings.ts"
import { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import { openInProcess } from "../open/embedded.ts"
import { bridgeMcp, type McpEnd } from "../open/mcp-bridge.ts"
import { CommandError, UsageError, onStop, readFlags, toUrl } from "../process/command.ts"
import { createLog } from "../process/log.ts"
import { type Config, readConfig } from "../settings/config.ts"
import { reportData, warn } from "../settings/warn.ts"
import { usageText } from "../../strings/usage.ts"
import { connectionText } from "../../strings/serve.ts"

const flags = { server: { type: "string" }, token: { type: "string" } } as const

/** The server's `/mcp` on standard input and output: of a remote server, or of one in this process. */
export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals.length > 0) throw new UsageError(usageText.unexpectedArgument(positionals[0] ?? ""))
  const config = readConfig(undefined, { PAWL_TOKEN: values.token })
  warn(config)
  if (values.server === undefined) reportData(config)
  const stopping = onStop()
  await using end = values.server === undefined ? await openHere(config) : atServer(config, values.server)
  await bridgeMcp(end, { input: process.stdin, output: process.stdout, stopping })
  return 0
}

type OpenEnd = McpEnd & AsyncDisposable

/** Logs go to standard error: on standard output they would be read as messages. */
async function openHere(config: Config): Promise<OpenEnd> {
  const recent = new RecentSecrets(config.secrets)
  const log = createLog(recent, undefined, config.log)
  const { fetch, close } = await openInProcess(config, { log, recent })
  // The person approves on the page that `pawl serve` shows with these settings.
  return { url: `${baseUrl(config)}/mcp`, fetch, [Symbol.asyncDispose]: close }
}

function atServer({ token }: Config, server: string): OpenEnd {
  if (!token) throw new CommandError(connectionText.missingToken)
  return {
    url: `${toUrl(server).replace(/(?<!\/)\/+$/, "")}/mcp`,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set("authorization", `Bearer ${token}`)
      return fetch(input, { ...init, headers })
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
